import CloudKitModel

/// The fact that a field of a record has a file: the field's name and the file's checksum.
///
/// ``AssetTable`` stores the holdings of all records, to know which files are still in use. A field
/// has one holding for each file in it: a list that contains a file twice has one holding of that
/// file.
struct AssetHolding: Hashable {
  var fieldName: String
  /// The file's SHA-256 in hexadecimal digits. The checksum identifies the file in its database.
  var checksum: String
}

extension Record {
  /// The holdings of the record: one for each field and file.
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
