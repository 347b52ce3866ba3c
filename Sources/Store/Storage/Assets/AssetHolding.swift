import CloudKitModel

/// An asset in a field of a record.
struct AssetHolding: Hashable {
  var fieldName: String
  var checksum: String
}

extension Record {
  /// The assets in the record's fields.
  var assetHoldings: Set<AssetHolding> {
    var holdings: Set<AssetHolding> = []
    for (name, value) in fields {
      for asset in value.assets {
        holdings.insert(AssetHolding(fieldName: name, checksum: asset.fileChecksum))
      }
    }
    return holdings
  }
}
