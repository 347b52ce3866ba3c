import CloudKitModel
import SQLEngine
import StoreModel

// Statements that are the same for several tables. The caller names its table.
extension StoreTransaction {
  // MARK: Deleting

  /// The most rows that one statement deletes.
  private static let deletedAtOnce = 100

  /// Deletes rows by their numbers, many with each statement. On PostgreSQL each statement is a
  /// round trip, and tens of thousands of rows may have passed their retention.
  ///
  /// - Parameters:
  ///   - statement: ends where the list of the numbers begins: `… AND sequence IN`.
  ///   - arguments: the arguments before the numbers.
  ///   - numbers: the numbers of the rows, any count. A number without a row is ignored.
  func delete(_ statement: String, _ arguments: [SQLValue], numbers: [Int64]) throws {
    var rest = numbers[...]
    while let last = rest.last {
      // Two statement texts in all, so that each is prepared once: the last number fills up short
      // lists.
      let size = rest.count == 1 ? 1 : Self.deletedAtOnce
      let part = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      let list = part + repeatElement(part.last ?? last, count: size - part.count)
      let places = list.indices.map { "$\(arguments.count + 1 + $0)" }.joined(separator: ", ")
      try connection.run("\(statement) (\(places))", arguments + list.map { .integer($0) })
    }
  }

  /// Deletes a batch of a database's rows.
  ///
  /// - Parameters:
  ///   - table: the table and its primary key.
  ///   - database: the database of the rows.
  ///   - owner: a column, and the user whose name the rows have there; nil for all rows.
  ///   - limit: the most rows.
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

  /// Deletes the rows that have a user's name in a column, and returns their number.
  ///
  /// It is for tables outside of databases. The count of rows is not limited.
  @discardableResult
  func delete(from table: String, where column: String, is user: String) throws -> Int {
    try connection.run("DELETE FROM \(table) WHERE \(column) = $1", [.text(user)])
  }

  // MARK: Reading

  /// Finds a user's name in the `content` of a database's rows. There is no index for that, so a
  /// batch of rows is scanned.
  ///
  /// - Parameters:
  ///   - table: the table to scan.
  ///   - number: the rest of the table's primary key.
  ///   - user: the user's record name.
  ///   - owner: a column in which the user's name also selects a row.
  ///   - last: the number after which the batch begins.
  ///   - count: the most rows scanned.
  ///   - limit: the most rows returned.
  /// - Returns: the numbers of the rows, and the last number scanned; nil if no rows are left.
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

  /// Returns the next container and environment, in order, that rows of a table have; nil if there
  /// is none.
  ///
  /// - Parameters:
  ///   - last: the place after which the next is wanted; nil for the first.
  ///   - table: a table with the columns `container` and `environment`.
  /// - Complexity: O(log *n*) for *n* rows, if an index begins with `container, environment`.
  func place(after last: ContainerPlace?, in table: String) throws -> ContainerPlace? {
    // First the container's other environments: with both columns in one range, SQLite would scan
    // all rows of the container.
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
