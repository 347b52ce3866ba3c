import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Lists of databases

extension DatabaseTable {
  /// Returns the next pair of container and environment that has a database, in the order of their
  /// names; nil at the end.
  ///
  /// - Parameter last: the pair after which to search; nil returns the first pair.
  func place(after last: ContainerPlace?) throws -> ContainerPlace? {
    try transaction.place(after: last, in: "database_addresses")
  }

  /// Returns a page of the databases of a container's environment, with their owners' names, in the
  /// order of scopes and owners.
  ///
  /// - Parameters:
  ///   - last: the scope and owner of the last database in the page before; nil for the first page.
  ///   - limit: the most databases in the page.
  /// - Throws: ``StoreError/Code/corrupt`` if a row has a scope that this program does not know.
  func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) throws -> [DatabaseSummary] {
    try transaction.connection.rows(
      """
      SELECT number, scope, owner, users.name FROM database_addresses
      LEFT JOIN users ON users.user_record_name = database_addresses.owner
      WHERE container = $1 AND environment = $2 AND (scope, owner) > ($3, $4)
      ORDER BY scope, owner LIMIT $5
      """,
      [
        .text(place.container), .text(place.environment.rawValue),
        .integer(Int64(last?.scope.rawValue ?? 0)), .text(last?.owner ?? ""),
        .integer(Int64(limit)),
      ]
    ) { row in
      guard let scope = DatabaseScope(rawValue: Int(row.integer(1))) else {
        throw StoreError(.corrupt, "database \(row.integer(0)) has an unknown scope")
      }
      return DatabaseSummary(
        id: DatabaseID(rawValue: row.integer(0)),
        name: DatabaseSummary.Name(scope: scope, owner: row.text(2)),
        userName: row.optionalText(3))
    }
  }

  /// Returns the next public database of all containers, in the order of numbers; nil at the end.
  ///
  /// - Parameter database: the database after which to search.
  func nextPublic(after database: DatabaseID) throws -> DatabaseID? {
    try next(after: database, where: "scope = $2")
  }

  /// Returns the next private or shared database of a user in all containers, in the order of
  /// numbers; nil at the end.
  func next(after database: DatabaseID, of owner: String) throws -> DatabaseID? {
    try next(after: database, where: "scope <> $2 AND owner = $3", [.text(owner)])
  }

  /// Returns the next database that meets a condition, in the order of numbers; nil at the end.
  ///
  /// - Parameters:
  ///   - condition: an SQL condition. Its argument `$2` is the number of the public scope.
  ///   - arguments: the arguments `$3` and following of the condition.
  private func next(
    after database: DatabaseID, where condition: String, _ arguments: [SQLValue] = []
  ) throws -> DatabaseID? {
    try transaction.connection.first(
      """
      SELECT number FROM database_addresses WHERE number > $1 AND \(condition)
      ORDER BY number LIMIT 1
      """,
      [.integer(database.rawValue), .integer(Int64(DatabaseScope.public.rawValue))] + arguments
    ) { DatabaseID(rawValue: $0.integer(0)) }
  }

  /// Deletes the rows of a database. The caller must have deleted its contents. The number is never
  /// used again.
  func remove(_ database: DatabaseID) throws {
    let arguments = [SQLValue.integer(database.rawValue)]
    try transaction.connection.run("DELETE FROM databases WHERE database_id = $1", arguments)
    try transaction.connection.run("DELETE FROM database_addresses WHERE number = $1", arguments)
  }
}
