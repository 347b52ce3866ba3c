import SQLEngine

extension ValueIndexTable {
  /// Writes in the order of the index.
  func writeDecided() throws {
    let index = transaction.writes.index
    var insertions = RowInsertion(sql.changes.insertion)
    var deletions = RowInsertion(sql.changes.deletion)
    try index.forEachInOrder { change in
      func append(to arguments: inout SQLArguments) {
        arguments.append(change.database)
        arguments.append(change.fieldNumber)
        arguments.append(
          bytes: index.keys.span.extracting(change.start..<change.start + change.count).bytes)
        arguments.append(change.recordNumber)
        if change.isAddition { arguments.append(change.zoneNumber) }
      }
      if change.isAddition {
        try insertions.add(in: connection, append)
      } else {
        try deletions.add(in: connection, append)
      }
    }
    try deletions.finish(in: connection)
    try insertions.finish(in: connection)
    transaction.writes.index.removeAll()
  }

  struct ChangesStatements {
    /// A row that exists already stays unchanged.
    let insertion = RowStatement(
      inserting: "value_index (database_id, field_number, value_key, record_number, zone_number)",
      [.integer, .integer, .bytes, .integer, .integer],
      tail: "ON CONFLICT (database_id, field_number, value_key, record_number) DO NOTHING")
    let deletion = RowStatement(
      deletingFrom: "value_index",
      by: [
        "database_id": .integer, "field_number": .integer, "value_key": .bytes,
        "record_number": .integer,
      ])
  }
}
