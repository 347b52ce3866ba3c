import CloudKitModel
import SQLEngine
import StoreModel

/// Statements for the rows of a database with a user record name in their `content`.
struct NamingStatements {
  let end: Statement
  private let onSQLite: Statement
  private let onPostgreSQL: Statement

  /// - Parameters:
  ///   - number: the numeric column after `database_id` in the primary key.
  ///   - owner: a column; rows with the user's name in it are found too.
  init(_ table: String, by number: String, orOf owner: String? = nil) {
    end = """
      SELECT MAX(\(number)) FROM (
        SELECT \(number) FROM \(table) WHERE database_id = $1 AND \(number) > $2
        ORDER BY \(number) LIMIT $3) AS batch
      """
    let ownership = owner.map { "\($0) = $6 OR " } ?? ""
    func rows(containing condition: String, _ traits: Statement.Traits) -> Statement {
      """
      SELECT \(number) FROM \(table)
      WHERE database_id = $1 AND \(number) > $2 AND \(number) <= $3
        AND (\(ownership)\(condition))
      ORDER BY \(number) LIMIT $5
      """.except(traits)
    }
    onSQLite = rows(containing: "INSTR(content, $4) > 0", .onSQLite)
    onPostgreSQL = rows(containing: "POSITION($4 IN content) > 0", .onPostgreSQL)
  }

  func rows(on engine: SQLEngineKind) -> Statement {
    engine == .sqlite ? onSQLite : onPostgreSQL
  }
}

/// Statements for the next container and environment in a table. With one condition on both
/// columns, SQLite would scan all rows of the container.
struct PlaceStatements {
  let nextEnvironment: Statement
  let nextContainer: Statement

  init(_ table: String) {
    func next(_ range: String) -> Statement {
      """
      SELECT container, environment FROM \(table) WHERE \(range)
      ORDER BY container, environment LIMIT 1
      """
    }
    nextEnvironment = next("container = $1 AND environment > $2")
    nextContainer = next("container > $1 AND $2 = $2")
  }
}

// Statements for several tables.
extension StoreTransaction {
  /// Scans the next `count` rows for a user record name in their `content`. Returns at most `limit`
  /// numbers, and the last scanned number; nil if no rows follow.
  func rows(
    by statements: NamingStatements, naming user: String, after last: Int64,
    examining count: Int64, limit: Int64 = .max, in database: DatabaseID
  ) throws -> (found: [Int64], end: Int64)? {
    let place = SQLValue.id(database)
    let end = try connection.first(
      statements.end, [place, .integer(last), .integer(count)]
    ) { $0.optionalInteger(0) }
    guard let end = end ?? nil else { return nil }
    let found = try connection.integers(
      statements.rows(on: connection.kind),
      [
        place, .integer(last), .integer(end), .bytes(Array(user.utf8)), .integer(limit),
        .text(user),
      ])
    return (found, found.count == limit ? found.last ?? end : end)
  }

  /// - Complexity: O(log *n*) for *n* rows, if an index begins with `container, environment`.
  func place(after last: ContainerPlace?, by statements: PlaceStatements) throws -> ContainerPlace?
  {
    for statement in [statements.nextEnvironment, statements.nextContainer] {
      let found = try connection.first(
        statement, [.text(last?.container ?? ""), .text(last?.environment.rawValue ?? "")]
      ) { ContainerPlace(container: $0.text(0), environment: try $0.environment(1)) }
      if let found { return found }
    }
    return nil
  }
}
