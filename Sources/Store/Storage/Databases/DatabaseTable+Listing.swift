import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Lists of databases

extension DatabaseTable {
  /// The next container and environment with a database, in the order of containers and
  /// environments; nil at the end.
  ///
  /// - Parameter last: the pair before; nil for the first one.
  func place(after last: ContainerPlace?) throws -> ContainerPlace? {
    try transaction.place(after: last, in: "database_addresses")
  }

  /// A page of the databases of a container's environment with their owners' names, in the order of
  /// scopes and owners.
  ///
  /// - Parameter last: the scope and owner of the last database of the page before; nil for the
  ///   first page.
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

  /// The next public database of any container, in the order of numbers.
  ///
  /// - Parameter database: the one before.
  /// - Returns: nil at the end.
  func nextPublic(after database: DatabaseID) throws -> DatabaseID? {
    try next(after: database, where: "scope = $2")
  }

  /// The next database of any container that a user owns, in the order of numbers. These are the
  /// user's private and shared databases. The result is nil at the end.
  func next(after database: DatabaseID, of owner: String) throws -> DatabaseID? {
    try next(after: database, where: "scope <> $2 AND owner = $3", [.text(owner)])
  }

  /// The private databases of all users, in the order of their numbers.
  static func privateDatabases(over connection: any SQLConnection) throws -> [DatabaseID] {
    try connection.rows(
      "SELECT number FROM database_addresses WHERE scope = $1 ORDER BY number",
      [.integer(Int64(DatabaseScope.private.rawValue))]
    ) { DatabaseID(rawValue: $0.integer(0)) }
  }

  /// The next database that fulfils a condition.
  ///
  /// - Parameters:
  ///   - condition: SQL in which `$2` is the number of the public scope, and `$3` and later ones
  ///     are `arguments`.
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

  /// Removes an empty database. The caller has deleted its contents. The number is never reused.
  func remove(_ database: DatabaseID) throws {
    let arguments = [SQLValue.integer(database.rawValue)]
    try transaction.connection.run("DELETE FROM databases WHERE database_id = $1", arguments)
    try transaction.connection.run("DELETE FROM database_addresses WHERE number = $1", arguments)
  }
}
