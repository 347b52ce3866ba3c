import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Lists of databases

extension DatabaseTable {
  func place(after last: ContainerPlace?) throws -> ContainerPlace? {
    try transaction.place(after: last, by: sql.listing.places)
  }

  func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) throws -> [DatabaseSummary] {
    try connection.rows(
      sql.listing.databases,
      [
        .text(place.container), .text(place.environment.rawValue),
        .integer(Int64(last?.scope.rawValue ?? 0)), .text(last?.owner ?? ""), .count(limit),
      ]
    ) { row in
      guard let scope = DatabaseScope(rawValue: row.count(1)) else {
        throw StoreError(.corrupt, "database \(row.integer(0)) has an unknown scope")
      }
      return DatabaseSummary(
        id: row.database(0), name: DatabaseSummary.Name(scope: scope, owner: row.text(2)),
        userName: row.optionalText(3))
    }
  }

  func nextPublic(after database: DatabaseID) throws -> DatabaseID? {
    try next(after: database, by: sql.listing.nextPublic)
  }

  func next(after database: DatabaseID, of owner: String) throws -> DatabaseID? {
    try next(after: database, by: sql.listing.nextOfOwner, [.text(owner)])
  }

  private func next(
    after database: DatabaseID, by statement: Statement, _ arguments: [SQLValue] = []
  ) throws -> DatabaseID? {
    try connection.first(
      statement, [.id(database), .integer(Int64(DatabaseScope.public.rawValue))] + arguments
    ) { $0.database(0) }
  }

  /// The caller must have deleted the database's contents. The number is never used again.
  func remove(_ database: DatabaseID) throws {
    let arguments = [SQLValue.id(database)]
    try decide(sql.listing.remove, arguments)
    try decide(sql.listing.removeAddress, arguments)
  }

  struct ListingStatements {
    let places = PlaceStatements("database_addresses")
    let nextPublic: Statement = """
      SELECT number FROM database_addresses WHERE number > $1 AND scope = $2
      ORDER BY number LIMIT 1
      """
    let nextOfOwner: Statement = """
      SELECT number FROM database_addresses WHERE number > $1 AND scope <> $2 AND owner = $3
      ORDER BY number LIMIT 1
      """
    let databases: Statement = """
      SELECT number, scope, owner, users.name FROM database_addresses
      LEFT JOIN users ON users.user_record_name = database_addresses.owner
      WHERE container = $1 AND environment = $2 AND (scope, owner) > ($3, $4)
      ORDER BY scope, owner LIMIT $5
      """
    let remove: Statement = "DELETE FROM databases WHERE database_id = $1"
    let removeAddress: Statement = "DELETE FROM database_addresses WHERE number = $1"
  }
}
