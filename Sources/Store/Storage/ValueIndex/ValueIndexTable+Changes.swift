import SQLEngine

// Writes the decided changes of the index.
extension ValueIndexTable {
  /// Writes the decided changes, in the order of the index.
  func writeDecided() throws {
    let index = transaction.writes.index
    var (insertions, deletions) = (RowInsertion(Self.insertion), RowInsertion(Self.deletion))
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

  /// A row that exists already stays unchanged.
  private static let insertion = RowStatement(
    inserting: "value_index (database_id, field_number, value_key, record_number, zone_number)",
    [.integer, .integer, .bytes, .integer, .integer],
    tail: "ON CONFLICT (database_id, field_number, value_key, record_number) DO NOTHING")

  private static let deletion = RowStatement(
    """
    DELETE FROM value_index WHERE database_id = $1 AND field_number = $2
      AND value_key = $3 AND record_number = $4
    """, [.integer, .integer, .bytes, .integer]
  ) {
    """
    DELETE FROM value_index USING \($0) WHERE database_id = c1 AND field_number = c2
      AND value_key = c3 AND record_number = c4
    """
  }
}
