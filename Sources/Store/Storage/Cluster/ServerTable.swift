import CloudKitModel
import SQLEngine
import StoreModel

/// The servers that have the store open. Empty on an engine for one server.
struct ServerTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  static let definition = [
    """
    CREATE TABLE servers (
      server_id BIGINT PRIMARY KEY, description TEXT NOT NULL, alive_until BIGINT NOT NULL)
    """
  ]

  /// The description of a server that has the store open, whatever its schema version; nil if there
  /// is none.
  static func anyAlive(over connection: any SQLConnection) throws -> String? {
    try connection.first(
      "SELECT description FROM servers WHERE alive_until > \(StoreClock.expression) LIMIT 1", []
    ) { $0.text(0) }
  }

  func servers() throws -> [RegisteredServer] {
    try connection.rows(
      "SELECT server_id, description, alive_until FROM servers ORDER BY server_id", []
    ) {
      RegisteredServer(
        id: ServerID(rawValue: $0.integer(0)), description: $0.text(1),
        aliveUntil: Timestamp(milliseconds: $0.integer(2)))
    }
  }

  /// The servers with the remaining seconds of their registrations and the numbers of their leases.
  func listed() throws -> [ListedServer] {
    let leases = try DispatchLeaseTable(transaction: transaction).counts()
    return try connection.rows(
      """
      SELECT server_id, description, alive_until - \(StoreClock.expression) FROM servers
      ORDER BY server_id
      """, []
    ) {
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
      """
      INSERT INTO servers (server_id, description, alive_until)
      VALUES ($1, $2, \(StoreClock.expression) + $3)
      """,
      [.integer(server.rawValue), .text(description), .integer(Int64(leaseTime * 1_000))])
    return server
  }

  /// False if the server is not registered any more.
  func renew(_ server: ServerID, for leaseTime: Double) throws -> Bool {
    try connection.run(
      "UPDATE servers SET alive_until = \(StoreClock.expression) + $2 WHERE server_id = $1",
      [.integer(server.rawValue), .integer(Int64(leaseTime * 1_000))]) == 1
  }

  func unregister(_ server: ServerID) throws {
    try connection.run(
      "DELETE FROM servers WHERE server_id = $1", [.integer(server.rawValue)])
  }

  /// Removes an expired server; returns whether it did.
  func removeExpired(_ server: ServerID) throws -> Bool {
    let isGone =
      try connection.run(
        "DELETE FROM servers WHERE server_id = $1 AND alive_until < \(StoreClock.expression)",
        [.integer(server.rawValue)]) == 1
    if isGone { try AnnouncementTable(transaction: transaction).remove(of: server) }
    return isGone
  }
}
