import CloudKitModel

/// An asset in a field of a record, as ``AssetTable`` counts it.
///
/// A field has one holding for each file in it: a list that contains a file twice has one holding
/// of that file.
struct AssetHolding: Hashable {
  var fieldName: String
  /// The file's SHA-256 in hexadecimal digits, which identifies the file in its database.
  var checksum: String
}

extension Record {
  /// The assets in the record's fields.
  ///
  /// A list of assets has one holding for each file, however often the file is in the list.
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
