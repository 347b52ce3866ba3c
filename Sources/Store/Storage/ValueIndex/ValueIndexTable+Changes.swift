import SQLEngine

// Writes the gathered changes of record modifications to the index.
extension ValueIndexTable {
  /// Writes the gathered changes. Additions are written in the order of the index, in groups of
  /// ``rowsTogether``. The last additions that do not fill a group, and all removals, are written
  /// one by one.
  ///
  /// A statement's failure may be reported by a later statement, at the latest by the commit.
  func apply(_ index: IndexChanges) throws {
    var additions: [IndexChanges.Change] = []
    additions.reserveCapacity(Self.rowsTogether)
    try index.forEachInOrder { change in
      guard change.isAddition else { return try remove(change, of: index) }
      additions.append(change)
      guard additions.count == Self.rowsTogether else { return }
      try add(additions[...], of: index, by: Self.insertTogether)
      additions.removeAll(keepingCapacity: true)
    }
    for place in additions.indices {
      try add(additions[place...place], of: index, by: Self.insertOne)
    }
  }

  /// The number of rows in a full insert statement. Starting and ending a statement costs a third
  /// as much as a row.
  private static let rowsTogether = 32
  /// The statement that inserts a group of rows.
  private static let insertTogether = insertion(ofRows: rowsTogether)
  /// The statement that inserts one row.
  private static let insertOne = insertion(ofRows: 1)

  /// Returns the statement that inserts `count` rows. A row that exists already stays unchanged.
  private static func insertion(ofRows count: Int) -> String {
    let rows = (0..<count).map { row in
      "(" + (1...5).map { "$\(5 * row + $0)" }.joined(separator: ", ") + ")"
    }
    return """
      INSERT INTO value_index
        (database_id, field_number, value_key, record_number, zone_number)
      VALUES \(rows.joined(separator: ", "))
      ON CONFLICT (database_id, field_number, value_key, record_number) DO NOTHING
      """
  }

  /// Inserts the rows of `changes` by `statement`, which takes exactly that many rows.
  private func add(
    _ changes: ArraySlice<IndexChanges.Change>, of index: IndexChanges, by statement: String
  ) throws {
    transaction.arguments.removeAll()
    for change in changes {
      append(change, of: index)
      transaction.arguments.append(change.zoneNumber)
    }
    try connection.runLater(statement, transaction.arguments)
  }

  /// Deletes the row of a change.
  private func remove(_ change: IndexChanges.Change, of index: IndexChanges) throws {
    transaction.arguments.removeAll()
    append(change, of: index)
    try connection.runLater(
      """
      DELETE FROM value_index WHERE database_id = $1 AND field_number = $2
        AND value_key = $3 AND record_number = $4
      """, transaction.arguments)
  }

  /// Appends the arguments of a row's primary key.
  private func append(_ change: IndexChanges.Change, of index: IndexChanges) {
    transaction.arguments.append(change.database)
    transaction.arguments.append(change.fieldNumber)
    transaction.arguments.append(
      bytes: index.keys.span.extracting(change.start..<change.start + change.count).bytes)
    transaction.arguments.append(change.recordNumber)
  }
}
