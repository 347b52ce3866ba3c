import CloudKitModel
import SQLEngine
import StoreModel

/// A record with the numbers by which the store finds it.
struct StoredRecord {
  /// The record's number, which identifies the record in the value index: the index of field values
  /// (``ValueIndexTable``). A record's number never changes, and no other record of the database
  /// ever gets it.
  var number: Int64
  /// The number of the record's zone in its database.
  var zoneNumber: Int64
  /// The record as clients see it, with its change tag.
  var record: Record
  /// The number of the record's type.
  var typeNumber: Int64
  /// The number of the record's latest change.
  var version: Int64
  /// The size in bytes of the row's content; 0 for a record that is not encoded yet.
  var contentSize = 0

  /// The columns of ``Row``, in the order of its properties.
  static let columns = """
    records.record_number, records.zone_number, records.record_name, records.type_number, \
    records.version, records.content
    """

  /// The row of a record, with the content still encoded. A search decodes only the fields that the
  /// query needs.
  struct Row {
    var number: Int64
    var zoneNumber: Int64
    var recordName: String
    var typeNumber: Int64
    var version: Int64
    var content: [UInt8]

    /// Creates the row of a record.
    init(
      number: Int64, zoneNumber: Int64, recordName: String, typeNumber: Int64, version: Int64,
      content: [UInt8]
    ) {
      self.number = number
      self.zoneNumber = zoneNumber
      self.recordName = recordName
      self.typeNumber = typeNumber
      self.version = version
      self.content = content
    }

    /// Creates the row of a record that is to be replaced or deleted, without the content.
    init(of stored: StoredRecord) {
      self.init(
        number: stored.number, zoneNumber: stored.zoneNumber,
        recordName: stored.record.recordID.recordName, typeNumber: stored.typeNumber,
        version: stored.version, content: [])
    }

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
