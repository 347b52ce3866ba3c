import CloudKitModel
import SQLEngine
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
