import CloudKitModel

/// A field of a record and a file in it. ``AssetTable`` stores the holdings of all records, to know
/// which files are in use. A list that contains a file twice has one holding of that file.
struct AssetHolding: Hashable {
  var fieldName: String
  /// The file's SHA-256 in hexadecimal digits, which identifies the file in its database.
  var checksum: String
}

extension Record {
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
