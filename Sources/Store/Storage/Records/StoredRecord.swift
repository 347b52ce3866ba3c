import CloudKitModel
import SQLEngine
import StoreModel

/// A record with the numbers by which the store finds it.
struct StoredRecord {
  var number: Int64
  var zoneNumber: Int64
  var record: Record
  var typeNumber: Int64
  var version: Int64
  /// 0 for a record that is not encoded yet.
  var contentSize = 0

  static let columns = """
    records.record_number, records.zone_number, records.record_name, records.type_number, \
    records.version, records.content
    """

  /// Still encoded: a search decodes only the fields that the query needs.
  struct Row {
    var number: Int64
    var zoneNumber: Int64
    var recordName: String
    var typeNumber: Int64
    var version: Int64
    var content: [UInt8]
  }
}

extension StoredRecord.Row {
  init(of stored: StoredRecord) {
    self.init(
      number: stored.number, zoneNumber: stored.zoneNumber,
      recordName: stored.record.recordID.recordName, typeNumber: stored.typeNumber,
      version: stored.version, content: [])
  }

  init(_ row: any SQLRow) {
    self.init(
      number: row.integer(0), zoneNumber: row.integer(1), recordName: row.text(2),
      typeNumber: row.integer(3), version: row.integer(4), content: row.bytes(5))
  }
}
