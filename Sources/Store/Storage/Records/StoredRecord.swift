import CloudKitModel
import StoreModel

/// A record with the numbers that the store has for it.
struct StoredRecord {
  /// Names the record in the value index; never changes and is never used again.
  var number: Int64
  var zoneNumber: Int64
  var record: Record
  /// Bytes of the record as it stands in the store; 0 for one that is not written yet.
  var contentSize = 0

  /// The columns of ``Row``, in its order.
  static let columns = """
    records.record_number, records.zone_number, records.record_name, records.type_number, \
    records.version, records.content
    """
  static let selection = "SELECT \(columns) FROM records"
  fileprivate static let selectionByName =
    selection + " WHERE database_id = $1 AND zone_number = $2 AND record_name = $3"

  /// A record as its row has it.
  struct Row {
    var number: Int64
    var zoneNumber: Int64
    var recordName: String
    var typeNumber: Int64
    var version: Int64
    var content: [UInt8]

    init(_ row: any SQLRow) {
      number = row.integer(0)
      zoneNumber = row.integer(1)
      recordName = row.text(2)
      typeNumber = row.integer(3)
      version = row.integer(4)
      content = row.bytes(5)
    }
  }
}

extension StoreSession {
  func storedRecord(_ row: StoredRecord.Row, in database: DatabaseID) throws -> StoredRecord {
    let recordID = RecordID(
      recordName: row.recordName,
      zoneID: try ZoneTable(session: self).id(of: row.zoneNumber, in: database))
    var record = Record(
      recordID: recordID, recordType: try recordTypeName(row.typeNumber),
      recordChangeTag: changeTags.tag(ofVersion: row.version, in: database))
    var decoder = try RowDecoder(row.content, of: "record", named: row.recordName)
    try decoder.decodeContent(into: &record)
    try decoder.finish()
    return StoredRecord(
      number: row.number, zoneNumber: row.zoneNumber, record: record,
      contentSize: row.content.count)
  }

  /// The record with a number that an index names.
  func storedRecord(numbered number: Int64, in database: DatabaseID) throws -> StoredRecord {
    let row = try connection.first(
      StoredRecord.selection + " WHERE database_id = $1 AND record_number = $2",
      [.integer(database.rawValue), .integer(number)], StoredRecord.Row.init)
    guard let row else {
      throw StoreError(.corrupt, "an index names record \(number), which does not exist")
    }
    return try storedRecord(row, in: database)
  }

  func storedRecord(
    named recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> StoredRecord? {
    try connection.first(
      StoredRecord.selectionByName,
      [.integer(database.rawValue), .integer(zoneNumber), .text(recordName)],
      StoredRecord.Row.init
    ).map { try storedRecord($0, in: database) }
  }
}
