import CloudKitModel
import SQLEngine
import StoreModel

/// A record with the numbers that the store gives it.
struct StoredRecord {
  /// The record's number: it identifies the record in the value index. It never changes and is
  /// never reused.
  var number: Int64
  /// The number of the record's zone in its database.
  var zoneNumber: Int64
  /// The record as clients see it, with its change tag.
  var record: Record
  /// The size of the stored content in bytes; 0 before it is written.
  var contentSize = 0

  /// The columns of ``Row``, in its order.
  static let columns = """
    records.record_number, records.zone_number, records.record_name, records.type_number, \
    records.version, records.content
    """

  /// A row of a record, whose content is not decoded. A search decodes only the fields that it
  /// needs.
  struct Row {
    var number: Int64
    var zoneNumber: Int64
    var recordName: String
    var typeNumber: Int64
    var version: Int64
    var content: [UInt8]

    /// Reads the columns of ``StoredRecord/columns``.
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
