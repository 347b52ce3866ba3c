import CloudKitModel
import StoreModel

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

extension RecordTable {
  /// Returns the assets of a record's field, at least one.
  ///
  /// - Parameters:
  ///   - shared: the zone as a participant of its shares sees it; nil for the database's owner.
  ///   - user: the user who must be allowed to read the record.
  func assets(
    at place: AssetPlace, inZone zoneNumber: Int64, of database: DatabaseID,
    seenIn shared: SharedZone?, for user: String
  ) throws -> [Asset] {
    guard
      let stored = try record(
        named: place.recordName, inZone: zoneNumber, of: database),
      try shared.map({ try $0.membership(ofRecord: stored.number) != nil }) ?? true
    else {
      throw ItemFailure(.notFound, "there is no record '\(place.recordName)'")
    }
    let access = try AccessPolicy.access(
      of: .user(userRecordName: user), toType: stored.record.recordType,
      at: try DatabaseTable(transaction: transaction).address(of: database), in: transaction)
    if let refusal = access.refusal(ofReading: stored.record) {
      throw ItemFailure(
        .accessDenied, "record '\(place.recordName)' cannot be read: \(refusal.reason())")
    }
    let assets = stored.record.fields[place.fieldName]?.assets ?? []
    guard !assets.isEmpty else {
      throw ItemFailure(
        .invalid, field: place.fieldName,
        "field '\(place.fieldName)' of record '\(place.recordName)' holds no asset")
    }
    return assets
  }
}
