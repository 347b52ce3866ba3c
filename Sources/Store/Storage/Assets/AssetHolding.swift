import CloudKitModel

/// An asset in a field of a record, as ``AssetTable`` counts it.
///
/// A file that a list contains twice, or that two fields hold, is one holding for each field.
struct AssetHolding: Hashable {
  var fieldName: String
  /// The file's SHA-256 in hexadecimal digits, which identifies the file in its database.
  var checksum: String
}

extension Record {
  /// The assets in the record's fields.
  ///
  /// A list of assets has one holding for each different file.
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
