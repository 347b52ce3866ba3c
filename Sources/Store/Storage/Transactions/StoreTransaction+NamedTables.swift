import CloudKitModel
import SQLEngine
import StoreModel

// Statements that are the same for several tables. The caller names its table.
extension StoreTransaction {
  // MARK: Deleting

  /// The most rows that one statement deletes.
  private static let deletedAtOnce = 100

  /// Deletes rows by their numbers, up to 100 with each statement. On PostgreSQL each statement is
  /// a round trip, and tens of thousands of rows may have to be deleted.
  ///
  /// - Parameters:
  ///   - statement: the text of the statement before the list of the numbers, such as `… AND
  ///     sequence IN`.
  ///   - arguments: the arguments of that text.
  ///   - numbers: the numbers of the rows, any count. A number without a row is ignored.
  func delete(_ statement: String, _ arguments: [SQLValue], numbers: [Int64]) throws {
    var rest = numbers[...]
    while let last = rest.last {
      // There are two texts, for 1 and for 100 numbers, so that each is prepared once. A shorter
      // list is filled up with its last number.
      let size = rest.count == 1 ? 1 : Self.deletedAtOnce
      let part = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      let list = part + repeatElement(part.last ?? last, count: size - part.count)
      let places = list.indices.map { "$\(arguments.count + 1 + $0)" }.joined(separator: ", ")
      try connection.run("\(statement) (\(places))", arguments + list.map { .integer($0) })
    }
  }

  /// Deletes a batch of the rows of one database.
  ///
  /// - Parameters:
  ///   - table: the table, with the columns of its primary key after `database_id`.
  ///   - database: the database of the rows.
  ///   - owner: a column and a user record name: only rows with this name in this column are
  ///     deleted; nil for all rows.
  ///   - limit: the most rows to delete.
  /// - Returns: the number of deleted rows; below the limit if no rows are left.
  func delete(
    from table: UserTraces.KeyedTable, in database: DatabaseID,
    where owner: (column: String, name: String)? = nil, limit: Int64
  ) throws -> Int {
    let key = table.key.joined(separator: ", ")
    let condition = owner.map { " AND \($0.column) = $3" } ?? ""
    return try connection.run(
      """
      DELETE FROM \(table.name) WHERE database_id = $1 AND (\(key)) IN (
        SELECT \(key) FROM \(table.name) WHERE database_id = $1\(condition) LIMIT $2)
      """,
      [.integer(database.rawValue), .integer(limit)] + (owner.map { [.text($0.name)] } ?? []))
  }

  /// Deletes the rows that have a user record name in a column, and returns their number.
  ///
  /// The method deletes any number of rows. It is for tables whose rows belong to no database.
  @discardableResult
  func delete(from table: String, where column: String, is user: String) throws -> Int {
    try connection.run("DELETE FROM \(table) WHERE \(column) = $1", [.text(user)])
  }

  // MARK: Reading

  /// Finds the rows of a database that have a user record name in their `content`. No index
  /// contains these names, so the method scans a batch of rows.
  ///
  /// - Parameters:
  ///   - table: the table to scan.
  ///   - number: the numeric column that follows `database_id` in the table's primary key.
  ///   - user: the user's record name.
  ///   - owner: a column; rows with the user's name in this column are found too. With nil, only
  ///     the content is searched.
  ///   - last: the number after which the batch begins, exclusive.
  ///   - count: the most rows to scan.
  ///   - limit: the most rows to return.
  /// - Returns: the numbers of the rows found, and the last number scanned, after which the next
  ///   batch begins; nil if no rows follow.
  func rows(
    of table: String, by number: String, naming user: String, orOf owner: String? = nil,
    after last: Int64, examining count: Int64, limit: Int64 = .max, in database: DatabaseID
  ) throws -> (found: [Int64], end: Int64)? {
    let place = SQLValue.integer(database.rawValue)
    let end = try connection.first(
      """
      SELECT MAX(\(number)) FROM (
        SELECT \(number) FROM \(table) WHERE database_id = $1 AND \(number) > $2
        ORDER BY \(number) LIMIT $3) AS batch
      """, [place, .integer(last), .integer(count)]
    ) { $0.optionalInteger(0) }
    guard let end = end ?? nil else { return nil }
    let condition = owner.map { "\($0) = $6 OR " } ?? ""
    let found = try connection.rows(
      """
      SELECT \(number) FROM \(table)
      WHERE database_id = $1 AND \(number) > $2 AND \(number) <= $3
        AND (\(condition)\(connection.contains("$4", in: "content")))
      ORDER BY \(number) LIMIT $5
      """,
      [place, .integer(last), .integer(end), .bytes(Array(user.utf8)), .integer(limit)]
        + (owner == nil ? [] : [.text(user)])
    ) { $0.integer(0) }
    return (found, found.count == limit ? found.last ?? end : end)
  }

  /// Returns the next pair of container and environment that a row of a table has, in the order of
  /// containers, then environments; nil if there is none.
  ///
  /// - Parameters:
  ///   - last: the pair before the wanted one; nil for the first pair.
  ///   - table: a table with the columns `container` and `environment`.
  /// - Complexity: O(log *n*) for *n* rows, if an index begins with `container, environment`.
  func place(after last: ContainerPlace?, in table: String) throws -> ContainerPlace? {
    // The first statement finds the next environment of the same container, the second one the next
    // container. With one condition on both columns, SQLite would scan all rows of the container.
    for range in ["container = $1 AND environment > $2", "container > $1 AND $2 = $2"] {
      let found = try connection.first(
        "SELECT container, environment FROM \(table) WHERE \(range) "
          + "ORDER BY container, environment LIMIT 1",
        [.text(last?.container ?? ""), .text(last?.environment.rawValue ?? "")]
      ) { ContainerPlace(container: $0.text(0), environment: try $0.environment(1)) }
      if let found { return found }
    }
    return nil
  }
}
