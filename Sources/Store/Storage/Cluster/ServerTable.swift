import CloudKitModel
import SQLEngine
import StoreModel

/// The servers that have the store open. The table is empty on an engine for one server.
///
/// A server renews its row every few seconds (its heartbeat). Another server deletes the row after
/// it has expired.
struct ServerTable: Table {
  let transaction: StoreTransaction

  /// `server_id` is never reused. `alive_until` is a time of the store's clock.
  static let definition = [
    """
    CREATE TABLE servers (
      server_id BIGINT PRIMARY KEY, description TEXT NOT NULL, alive_until BIGINT NOT NULL)
    """
  ]

  /// Of any schema version: a migration calls the method before the store can run transactions.
  static func anyAlive(over connection: any SQLConnection) throws -> String? {
    try connection.first(Self.sql.anyAlive, []) { $0.text(0) }
  }

  func servers() throws -> [RegisteredServer] {
    try connection.rows(Self.sql.servers, []) {
      RegisteredServer(
        id: ServerID(rawValue: $0.integer(0)), description: $0.text(1),
        aliveUntil: Timestamp(milliseconds: $0.integer(2)))
    }
  }

  /// The remaining seconds of an expired registration are negative.
  func listed() throws -> [ListedServer] {
    let leases = try DispatchLeaseTable(transaction: transaction).counts()
    return try connection.rows(Self.sql.listed, []) {
      let own = leases[$0.integer(0)] ?? (0, 0)
      return ListedServer(
        id: ServerID(rawValue: $0.integer(0)), description: $0.text(1),
        secondsLeft: Double($0.integer(2)) / 1_000, leasedDatabases: own.leased,
        pendingWakeUps: own.wakeUps)
    }
  }

  func register(_ description: String, for leaseTime: Double) throws -> ServerID {
    let server = ServerID(rawValue: try CounterTable(transaction: transaction).next("server"))
    try connection.run(
      Self.sql.register,
      [.integer(server.rawValue), .text(description), .integer(Int64(leaseTime * 1_000))])
    return server
  }

  /// Returns false if the server is not registered any more.
  func renew(_ server: ServerID, for leaseTime: Double) throws -> Bool {
    try connection.run(
      Self.sql.renew, [.integer(server.rawValue), .integer(Int64(leaseTime * 1_000))]) == 1
  }

  func unregister(_ server: ServerID) throws {
    try connection.run(Self.sql.unregister, [.integer(server.rawValue)])
  }

  func removeExpired(_ server: ServerID) throws -> Bool {
    let isGone =
      try connection.run(Self.sql.removeExpired, [.integer(server.rawValue)]) == 1
    if isGone { try AnnouncementTable(transaction: transaction).remove(of: server) }
    return isGone
  }

  struct Statements {
    let anyAlive = """
      SELECT description FROM servers WHERE alive_until > \(StoreClock.expression) LIMIT 1
      """.except([.onPostgreSQL, .wholeTable])
    let servers = "SELECT server_id, description, alive_until FROM servers ORDER BY server_id"
      .except(.wholeTable)
    let listed = """
      SELECT server_id, description, alive_until - \(StoreClock.expression) FROM servers
      ORDER BY server_id
      """.except([.onPostgreSQL, .wholeTable])
    let register = """
      INSERT INTO servers (server_id, description, alive_until)
      VALUES ($1, $2, \(StoreClock.expression) + $3)
      """.except(.onPostgreSQL)
    let renew = """
      UPDATE servers SET alive_until = \(StoreClock.expression) + $2 WHERE server_id = $1
      """.except(.onPostgreSQL)
    let unregister: Statement = "DELETE FROM servers WHERE server_id = $1"
    let removeExpired = """
      DELETE FROM servers WHERE server_id = $1 AND alive_until < \(StoreClock.expression)
      """.except(.onPostgreSQL)
  }
  static let sql = Statements()
}
