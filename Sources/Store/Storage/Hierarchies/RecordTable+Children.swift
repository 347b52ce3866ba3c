import CloudKitModel
import SQLEngine
import StoreModel

extension RecordTable {
  /// A record that has a parent, as ``HierarchyTable/fill(_:)`` needs it.
  struct Child {
    /// The number of the record.
    var number: Int64
    /// The number of its zone.
    var zone: Int64
    /// The number of its latest change.
    var version: Int64
    /// The number of its parent.
    var parent: Int64
  }

  /// Calls `visit` for each record of a database whose parent exists, in the order of their
  /// numbers.
  static func visitChildren(
    in database: DatabaseID, over connection: any SQLConnection, _ visit: (Child) -> Void
  ) throws {
    var glance = RecordGlance(for: Query(recordType: ""))
    glance.hasReferences = true
    var last: Int64 = 0
    while true {
      let rows = try connection.rows(
        """
        SELECT \(StoredRecord.columns) FROM records
        WHERE database_id = $1 AND record_number > $2 ORDER BY record_number LIMIT 1000
        """, [.integer(database.rawValue), .integer(last)], StoredRecord.Row.init)
      for row in rows {
        last = row.number
        var record = Record(recordID: RecordID(recordName: row.recordName), recordType: "")
        var decoder = try RowDecoder(row.content, of: "record", named: row.recordName)
        try decoder.decode(glance, into: &record)
        guard let parent = record.parent else { continue }
        let number = try connection.first(
          """
          SELECT record_number FROM records
          WHERE database_id = $1 AND zone_number = $2 AND record_name = $3
          """,
          [.integer(database.rawValue), .integer(row.zoneNumber), .text(parent.recordName)]
        ) { $0.integer(0) }
        guard let number else { continue }
        visit(Child(number: row.number, zone: row.zoneNumber, version: row.version, parent: number))
      }
      if rows.count < 1000 { return }
    }
  }
}
