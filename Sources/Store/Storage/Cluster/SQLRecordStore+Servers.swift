import CloudKitModel
import StoreModel
import Synchronization

// Each of these is a statement that is right by itself, on a connection of its own: a registration
// that waited behind saves would run out when they are many.
extension SQLRecordStore: ClusterStore {
  /// What servers that share the store know of each other; nil when one has it alone.
  public var servers: (any ClusterStore)? { presence == nil ? nil : self }

  /// Seconds that the store's clock is ahead of this machine's.
  public var clockOffset: Double { storeClock?.offset ?? 0 }

  public func registerServer(
    _ description: String, for leaseTime: Double
  ) async throws -> ServerID {
    let server = try await attend { session in
      let server = ServerID(rawValue: try session.nextCounter("server"))
      try session.connection.run(
        """
        INSERT INTO servers (server_id, description, alive_until)
        VALUES ($1, $2, \(StoreClock.expression) + $3)
        """,
        [.integer(server.rawValue), .text(description), .integer(Int64(leaseTime * 1_000))])
      return server
    }
    identity?.current = server
    notices?.identityChanged()
    return server
  }

  public func renewServer(
    _ server: ServerID, for leaseTime: Double
  ) async throws -> ServerRenewal? {
    let renewal = try await attend { [storeClock] session -> ServerRenewal? in
      let count = try session.connection.run(
        "UPDATE servers SET alive_until = \(StoreClock.expression) + $2 WHERE server_id = $1",
        [.integer(server.rawValue), .integer(Int64(leaseTime * 1_000))])
      guard count == 1 else { return nil }
      if let connection = session.connection as? PostgreSQLConnection {
        try storeClock?.follow(connection)
      }
      var renewal = ServerRenewal()
      for other in try session.servers() where other.id != server {
        if try session.strikeOff(other.id) {
          renewal.gone.append(other.id)
        } else {
          renewal.others.append(other)
        }
      }
      return renewal
    }
    if renewal == nil, identity?.current == server { identity?.current = nil }
    identity?.setOthers(renewal?.others ?? [])
    return renewal
  }

  public func unregisterServer(_ server: ServerID) async throws {
    if identity?.current == server { identity?.current = nil }
    try await attend { session in
      try session.connection.run(
        "DELETE FROM servers WHERE server_id = $1", [.integer(server.rawValue)])
    }
  }

  public func servers() async throws -> [RegisteredServer] {
    try await attend { try $0.servers() }
  }

  // MARK: Leases

  public func leasedParts(of server: ServerID) async throws -> [DatabasePart] {
    try await attend {
      try $0.connection.rows(
        "SELECT \(DatabasePart.columns) FROM dispatch_leases WHERE holder = $1",
        [.integer(server.rawValue)], DatabasePart.init(row:))
    }
  }

  public func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool {
    try await attend { try $0.isLeased(part, to: server) }
  }

  public func freeDatabases(
    after database: DatabaseID, limit: Int
  ) async throws -> [FreePart] {
    try await attend {
      try $0.connection.rows(
        """
        SELECT database_id, holder FROM dispatch_leases
        WHERE database_id > $1 AND parts = 1
          AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = dispatch_leases.holder)
        ORDER BY database_id LIMIT $2
        """, [.integer(database.rawValue), .integer(Int64(max(0, limit)))]
      ) {
        FreePart(
          part: .whole(DatabaseID(rawValue: $0.integer(0))), formerHolder: $0.integer(1))
      }
    }
  }

  public func lease(_ part: FreePart, to server: ServerID) async throws -> Bool {
    try await attend { session in
      try session.holding(part.part.database) {
        let count = try session.connection.run(
          """
          UPDATE dispatch_leases SET holder = $4, awaited = 0
          WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $5
          """,
          part.part.key + [.integer(server.rawValue), .integer(part.formerHolder)])
        if count == 1 { return true }
        // The answer to an earlier attempt may have been lost.
        return try session.isLeased(part.part, to: server)
      }
    }
  }

  public func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool {
    try await attend { session in
      try session.holding(database) {
        // It may be another server's by now, or divided.
        guard try session.isLeased(.whole(database), to: server) else { return true }
        guard try !session.hasUndispatchedChanges(in: database) else { return false }
        try session.connection.run(
          "DELETE FROM dispatch_leases WHERE database_id = $1 AND holder = $2 AND parts = 1",
          [.integer(database.rawValue), .integer(server.rawValue)])
        return true
      }
    }
  }

  // MARK: Announcements

  public func announce(_ announcement: Announcement, from server: ServerID) async throws {
    let names = announcement.subscribers.map { Announcement.text(of: $0) } ?? ""
    let number = announcementNumber.add(1, ordering: .relaxed).newValue
    let name = AnnouncementName(server: server.rawValue, number: number)
    try await attend { [notices] session in
      let statement = """
        INSERT INTO announcements (server_id, number, made, subscribers)
        VALUES ($1, $2, \(StoreClock.expression), $3) ON CONFLICT DO NOTHING
        """
      // Who waits looks again after PostgreSQL was lost, so this need not be durable.
      let light = " RETURNING set_config('synchronous_commit', 'off', true)"
      try session.connection.run(
        session.isDistributed ? statement : statement + light,
        [.integer(server.rawValue), .integer(number), .text(names)])
      // Without the notice it is found in the table.
      try? notices?.tell(.announced(name, announcement), in: session)
    }
  }

  public func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition) {
    try await attend { session in
      guard let time = position.time else {
        let now = try session.connection.first("SELECT \(StoreClock.expression)", []) {
          $0.integer(0)
        }
        var position = position
        position.time = now
        return ([], position)
      }
      var next = AnnouncementPosition()
      next.time = time
      var announcements: [Announcement] = []
      // Those that were about to be committed at the last reading have come to light since.
      try session.connection.query(
        """
        SELECT server_id, number, made, subscribers FROM announcements
        WHERE made > $1 AND server_id <> $2
        """, [.integer(time - Self.commitTime), .integer(server.rawValue)]
      ) { row in
        let name = AnnouncementName(server: row.integer(0), number: row.integer(1))
        next.known[name] = row.integer(2)
        next.time = max(next.time ?? time, row.integer(2))
        guard position.known[name] == nil else { return }
        announcements.append(Announcement(text: row.text(3)))
      }
      return (announcements, next)
    }
  }

  public func trimAnnouncements(of server: ServerID) async throws {
    try await attend { session in
      try session.connection.run(
        "DELETE FROM announcements WHERE server_id = $1 AND made < \(StoreClock.expression) - $2",
        [.integer(server.rawValue), .integer(Self.announcementTime)])
    }
  }

  /// Between the time that a statement takes down and its commit lie no more milliseconds than these.
  private static let commitTime: Int64 = 5_000
  /// How long announcements are kept, in milliseconds.
  private static let announcementTime: Int64 = 60_000

  /// Runs statements on the connection that the leases have for themselves.
  @discardableResult
  func attend<Value: Sendable>(
    _ body: @escaping @Sendable (StoreSession) throws -> Value
  ) async throws -> Value {
    guard let presence else {
      throw StoreError(.notFound, "the store is open in one server alone")
    }
    return try await withCheckedThrowingContinuation { continuation in
      presence.add(ContinuationJob(continuation, body))
    }
  }
}

extension StoreSession {
  func servers() throws -> [RegisteredServer] {
    try connection.rows(
      "SELECT server_id, description, alive_until FROM servers ORDER BY server_id", []
    ) {
      RegisteredServer(
        id: ServerID(rawValue: $0.integer(0)), description: $0.text(1),
        aliveUntil: Timestamp(milliseconds: $0.integer(2)))
    }
  }

  /// Ends the registration of a server whose time is over, and says so.
  fileprivate func strikeOff(_ server: ServerID) throws -> Bool {
    let isGone =
      try connection.run(
        "DELETE FROM servers WHERE server_id = $1 AND alive_until < \(StoreClock.expression)",
        [.integer(server.rawValue)]) == 1
    if isGone {
      try connection.run(
        "DELETE FROM announcements WHERE server_id = $1", [.integer(server.rawValue)])
    }
    return isGone
  }

  /// Does something while nobody commits changes of a database.
  func holding<Value>(_ database: DatabaseID, _ body: () throws -> Value) throws
    -> Value
  {
    try connection.execute("BEGIN")
    do {
      try connection.query(
        "SELECT 1 FROM databases WHERE database_id = $1 FOR UPDATE",
        [.integer(database.rawValue)]
      ) { _ in }
      let value = try body()
      try connection.commit()
      return value
    } catch {
      if connection.isInTransaction { try? connection.rollback() }
      throw error
    }
  }

  fileprivate func isLeased(_ part: DatabasePart, to server: ServerID) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM dispatch_leases
      WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $4
      """, part.key + [.integer(server.rawValue)]
    ) { _ in true } ?? false
  }

  func hasUndispatchedChanges(in database: DatabaseID) throws -> Bool {
    let through = try dispatchPosition(of: database)?.wholeThrough ?? .min
    return try connection.first(
      "SELECT 1 FROM outbox WHERE database_id = $1 AND sequence > $2 LIMIT 1",
      [.integer(database.rawValue), .integer(through)]
    ) { _ in true } ?? false
  }
}
