import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func database(at address: DatabaseAddress) async throws -> DatabaseID {
    if let known = try await read({ try $0.database(at: address) }) { return known }
    return try await write(locking: .reference) { session in
      try session.database(at: address) ?? session.addDatabase(at: address)
    }
  }

  public func address(of database: DatabaseID) async throws -> DatabaseAddress {
    try await read { try $0.address(of: database) }
  }
}

extension StoreSession {
  func database(at address: DatabaseAddress) throws -> DatabaseID? {
    try connection.first(
      """
      SELECT number FROM database_addresses
      WHERE container = $1 AND environment = $2 AND scope = $3 AND owner = $4
      """, arguments(for: address)
    ) { DatabaseID(rawValue: $0.integer(0)) }
  }

  fileprivate func addDatabase(at address: DatabaseAddress) throws -> DatabaseID {
    if let owner = address.owner { try UserDeletionTable(session: self).refuseDeleted(owner) }
    let database = DatabaseID(rawValue: try nextCounter("database"))
    let place = arguments(for: address) + [.integer(database.rawValue)]
    try connection.run(
      """
      INSERT INTO database_addresses (container, environment, scope, owner, number)
      VALUES ($1, $2, $3, $4, $5)
      """, place)
    try connection.run(
      """
      INSERT INTO databases (container, environment, scope, owner, database_id, last_number,
        subscription_version, forgotten_version)
      VALUES ($1, $2, $3, $4, $5, 0, 0, 0)
      """, place)
    hold(made: database)
    var numbers = try NumberSupply(of: database, count: 1, from: self)
    try addZone(.default, in: database, numbers: &numbers)
    return database
  }

  private func arguments(for address: DatabaseAddress) -> [SQLValue] {
    [
      .text(address.container), .text(address.environment.rawValue),
      .integer(Int64(address.scope.rawValue)), .text(address.owner ?? ""),
    ]
  }
}
