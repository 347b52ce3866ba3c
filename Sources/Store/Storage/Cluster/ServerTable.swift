import CloudKitModel
import SQLEngine
import StoreModel
import Synchronization

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
    try connection.text(Self.sql.anyAlive, [])
  }

  func servers() throws -> [RegisteredServer] {
    try connection.rows(sql.servers, []) {
      RegisteredServer(
        id: ServerID(rawValue: $0.integer(0)), description: $0.text(1),
        aliveUntil: $0.time(2))
    }
  }

  /// The remaining seconds of an expired registration are negative.
  func listed() throws -> [ListedServer] {
    let leases = try DispatchLeaseTable(transaction: transaction).counts()
    return try connection.rows(sql.listed, []) {
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
      sql.register,
      [.integer(server.rawValue), .text(description), .integer(Int64(leaseTime * 1_000))])
    return server
  }

  /// Returns false if the server is not registered any more.
  func renew(_ server: ServerID, for leaseTime: Double) throws -> Bool {
    try connection.run(
      sql.renew, [.integer(server.rawValue), .integer(Int64(leaseTime * 1_000))]) == 1
  }

  func unregister(_ server: ServerID) throws {
    try connection.run(sql.unregister, [.integer(server.rawValue)])
  }

  func removeExpired(_ server: ServerID) throws -> Bool {
    let isGone =
      try connection.run(sql.removeExpired, [.integer(server.rawValue)]) == 1
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

/// A registered server. Its registration may have expired, if no server has removed it yet.
public struct RegisteredServer: Sendable, Hashable {
  /// The server's ID.
  public var id: ServerID
  /// Where the server runs: a text for people.
  public var description: String
  /// The time at which the registration expires unless the server renews it, by the store's clock.
  public var aliveUntil: Timestamp
}

/// The result of a renewal: the other servers of the cluster.
public struct ServerRenewal: Sendable, Hashable {
  /// The other registered servers.
  public var others: [RegisteredServer] = []
  /// Expired servers that this renewal removed.
  public var gone: [ServerID] = []
}

/// A registered server with the number of its leases, at one moment. A lease is the right to
/// dispatch a database's changes.
public struct ListedServer: Sendable, Hashable {
  /// The server's ID.
  public var id: ServerID
  /// The server's ``RegisteredServer/description``.
  public var description: String
  /// The seconds until the registration expires unless it is renewed. Negative for an expired
  /// registration that no server has removed yet.
  public var secondsLeft: Double
  /// The number of the server's leases. Each part of a divided database counts as one.
  public var leasedDatabases: Int
  /// The leases with a pending wake-up: another process has committed changes, and this server has
  /// not cleared the mark yet.
  public var pendingWakeUps: Int
}

/// The server ID under which this process commits, and the IDs of the other registered servers. A
/// mutex guards each of them, so any thread may use the object.
final class ServerIdentity: Sendable {
  private let id = Mutex<ServerID?>(nil)
  private let others = Mutex<Set<Int64>>([])

  var current: ServerID? {
    get { id.withLock { $0 } }
    set { id.withLock { $0 = newValue } }
  }

  /// Whether another server was registered when this server last renewed its own registration.
  ///
  /// The result may be old by one renewal interval. This is harmless, because the statement that
  /// takes over a lease checks the registration itself.
  func isPresent(_ holder: Int64) -> Bool { others.withLock { $0.contains(holder) } }

  func setOthers(_ servers: [RegisteredServer]) {
    others.withLock { $0 = Set(servers.map(\.id.rawValue)) }
  }
}
