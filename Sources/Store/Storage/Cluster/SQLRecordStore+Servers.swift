import CloudKitModel
import SQLEngine
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
    let server = try await attend {
      try ServerTable(transaction: $0).register(description, for: leaseTime)
    }
    identity?.current = server
    notices?.identityChanged()
    return server
  }

  public func renewServer(
    _ server: ServerID, for leaseTime: Double
  ) async throws -> ServerRenewal? {
    let renewal = try await attend { [storeClock] transaction -> ServerRenewal? in
      let servers = ServerTable(transaction: transaction)
      guard try servers.renew(server, for: leaseTime) else { return nil }
      try storeClock?.follow(transaction.connection)
      var renewal = ServerRenewal()
      for other in try servers.servers() where other.id != server {
        if try servers.strikeOff(other.id) {
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
    try await attend { try ServerTable(transaction: $0).unregister(server) }
  }

  public func servers() async throws -> [RegisteredServer] {
    try await attend { try ServerTable(transaction: $0).servers() }
  }

  // MARK: Leases

  public func leasedParts(of server: ServerID) async throws -> [DatabasePart] {
    try await attend { try DispatchLeaseTable(transaction: $0).parts(of: server) }
  }

  public func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool {
    try await attend { try DispatchLeaseTable(transaction: $0).isLeased(part, to: server) }
  }

  public func freeDatabases(
    after database: DatabaseID, limit: Int
  ) async throws -> [FreePart] {
    try await attend {
      try DispatchLeaseTable(transaction: $0).freeDatabases(after: database, limit: limit)
    }
  }

  public func lease(_ part: FreePart, to server: ServerID) async throws -> Bool {
    try await attend { transaction in
      try transaction.holding(part.part.database) {
        try DispatchLeaseTable(transaction: transaction).lease(part, to: server)
      }
    }
  }

  public func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool {
    try await attend { transaction in
      let leases = DispatchLeaseTable(transaction: transaction)
      return try transaction.holding(database) {
        // It may be another server's by now, or divided.
        guard try leases.isLeased(.whole(database), to: server) else { return true }
        guard try !OutboxTable(transaction: transaction).hasUndispatched(in: database) else {
          return false
        }
        try leases.endLease(of: database, by: server)
        return true
      }
    }
  }

  // MARK: Announcements

  public func announce(_ announcement: Announcement, from server: ServerID) async throws {
    let names = announcement.subscribers.map { Announcement.text(of: $0) } ?? ""
    let number = announcementNumber.add(1, ordering: .relaxed).newValue
    let name = AnnouncementName(server: server.rawValue, number: number)
    try await attend { [notices] transaction in
      try AnnouncementTable(transaction: transaction).add(name, subscribers: names)
      // Without the notice it is found in the table.
      try? notices?.tell(.announced(name, announcement), in: transaction)
    }
  }

  public func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition) {
    try await attend {
      try AnnouncementTable(transaction: $0).announcements(after: position, for: server)
    }
  }

  public func trimAnnouncements(of server: ServerID) async throws {
    try await attend { try AnnouncementTable(transaction: $0).trim(of: server) }
  }

  /// Runs statements on the connection that the leases have for themselves.
  @discardableResult
  func attend<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    guard let presence else {
      throw StoreError(.notFound, "the store is open in one server alone")
    }
    return try await withCheckedThrowingContinuation { continuation in
      presence.add(ContinuationJob(continuation, body))
    }
  }
}

extension StoreTransaction {
  /// Does something while nobody commits changes of a database.
  func holding<Value>(_ database: DatabaseID, _ body: () throws -> Value) throws
    -> Value
  {
    try connection.execute("BEGIN")
    do {
      try DatabaseTable(transaction: self).lock(database)
      let value = try body()
      try connection.commit()
      return value
    } catch {
      if connection.isInTransaction { try? connection.rollback() }
      throw error
    }
  }
}
