import CloudKitModel
import Foundation

extension Schema {
  /// Brings the value index of a store from before words were indexed, and places precisely, to what
  /// it holds today.
  static let fillTextIndex: @Sendable (any SQLConnection) throws -> Void = { connection in
    let session = try StoreSession(connection: connection) { UUID() }
    var last: (database: Int64, record: Int64) = (.min, .min)
    while true {
      let batch = try connection.rows(
        """
        SELECT \(StoredRecord.columns), records.database_id FROM records
        WHERE (database_id, record_number) > ($1, $2)
        ORDER BY database_id, record_number LIMIT 500
        """, [.integer(last.database), .integer(last.record)]
      ) { (row: StoredRecord.Row($0), database: $0.integer(6)) }
      guard let end = batch.last else { return }
      for (row, number) in batch {
        let database = DatabaseID(rawValue: number)
        let stored = try session.storedRecord(row, in: database)
        try session.addWordsAndPlaces(of: stored, in: database)
      }
      last = (end.database, end.row.number)
    }
  }
}

extension StoreSession {
  fileprivate func addWordsAndPlaces(of stored: StoredRecord, in database: DatabaseID) throws {
    let address = try address(of: database)
    guard let type = try recordType(named: stored.record.recordType, at: address) else { return }
    for (name, value) in stored.record.fields {
      guard let field = type.fields[name], !field.isEncrypted else { continue }
      if field.hasTokenEntries {
        for key in ValueKey.tokenKeys(of: value) {
          try add(IndexEntry(fieldNumber: field.tokenNumber, key: key), of: stored, in: database)
        }
      }
      guard field.type.element == .location, field.hasValueEntries else { continue }
      for key in Self.coarseKeys(of: value) {
        try remove(IndexEntry(fieldNumber: field.number, key: key), of: stored, in: database)
      }
      for key in ValueKey.keys(of: value) {
        try add(IndexEntry(fieldNumber: field.number, key: key), of: stored, in: database)
      }
    }
  }

  /// The keys of places as they were: the band of latitude and the longitude.
  private static func coarseKeys(of value: RecordValue) -> Set<[UInt8]> {
    let places: [RecordValue]
    if case .list(_, let elements) = value { places = elements } else { places = [value] }
    let keys = Set(places.compactMap { ValueKey.key(of: $0).map { Array($0.prefix(6)) } })
    return keys.count > ValueKey.listLimit ? [ValueKey.longList] : keys
  }
}
