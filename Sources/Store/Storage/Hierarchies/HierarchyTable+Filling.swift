import CloudKitModel
import SQLEngine
import StoreModel

// A store of schema version 37 has parents in its records, but no table of places.
extension HierarchyTable {
  /// Fills the table from the parents of stored records.
  ///
  /// Programs of schema version 37 let a parent be deleted, and did not check for cycles. A missing
  /// parent is ignored, so the record becomes a top. In a cycle, the parent of one record is
  /// ignored.
  @Sendable
  static func fill(_ connection: any SQLConnection) throws {
    for database in try DatabaseTable.privateDatabases(over: connection) {
      var children: [Int64: RecordTable.Child] = [:]
      try RecordTable.visitChildren(in: database, over: connection) { children[$0.number] = $0 }
      for number in children.keys.sorted() {
        let top = top(of: number, in: &children)
        guard let child = children[number] else { continue }
        try connection.run(
          """
          INSERT INTO hierarchy (database_id, record_number, zone_number, parent_number,
            top_number, arrived, version)
          VALUES ($1, $2, $3, $4, $5, $6, $6)
          """,
          [
            .integer(database.rawValue), .integer(number), .integer(child.zone),
            .integer(child.parent), .integer(top), .integer(child.version),
          ])
      }
    }
  }

  /// Returns the ancestor of a record that has no parent. A cycle is opened at the record that
  /// closes it.
  private static func top(
    of number: Int64, in children: inout [Int64: RecordTable.Child]
  ) -> Int64 {
    var seen: Set<Int64> = []
    var top = number
    while let child = children[top] {
      guard seen.insert(top).inserted else {
        children[top] = nil
        break
      }
      top = child.parent
    }
    return top
  }
}
