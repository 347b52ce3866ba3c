import CloudKitModel
import SQLEngine
import StoreModel
import Synchronization

/// Cluster membership, leases and announcements of the servers that share a store.
///
/// The service has its own thread and connection, because a registration that waited behind many
/// saves would expire. Each statement is correct by itself and a transaction by itself.
final class ClusterService: ClusterStore {
  let identity: ServerIdentity
  let clock = StoreClock()
  let channel: ServerChannel
  let queue: JobQueue
  private let threads: ThreadGroup
  /// The number of the last announcement that this process made.
  private let announcementNumber = Atomic<Int64>(0)

  /// - Parameter connection: a connection to the store, of which only the address is used.
  init(
    at address: PostgreSQLAddress, over connection: any SQLConnection, identity: ServerIdentity,
    threads: ThreadGroup
  ) throws {
    self.identity = identity
    self.threads = threads
    queue = JobQueue(limit: 1_000, role: "registrations")
    channel = try ServerChannel(
      at: address, over: connection, queue: queue, identity: identity)
  }

  func close() {
    queue.close()
    channel.close()
  }

  /// Runs jobs until the queue is closed and empty.
  func work(over connection: StoreConnection) {
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        do {
          do {
            try run(job, over: connection)
          } catch let error as StoreError where error.code == .unreachable {
            // A job that was interrupted is repeated, which is harmless.
            try run(job, over: connection)
          }
          job.finish(nil)
        } catch {
          job.finish(error)
        }
      }
    }
  }

  private func run(_ job: any StoreJob, over connection: StoreConnection) throws {
    try connection.engine.getReady()
    try job.run(in: StoreTransaction(over: connection))
  }

  @discardableResult
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.add(ContinuationJob(continuation, body))
    }
  }

  // MARK: Membership

  func registerServer(
    _ description: String, for leaseTime: Double
  ) async throws -> ServerID {
    let server = try await perform {
      try ServerTable(transaction: $0).register(description, for: leaseTime)
    }
    identity.current = server
    channel.identityChanged()
    return server
  }

  func renewServer(
    _ server: ServerID, for leaseTime: Double
  ) async throws -> ServerRenewal? {
    let renewal = try await perform { [clock] transaction -> ServerRenewal? in
      let servers = ServerTable(transaction: transaction)
      guard try servers.renew(server, for: leaseTime) else { return nil }
      try clock.follow(transaction.connection)
      var renewal = ServerRenewal()
      for other in try servers.servers() where other.id != server {
        if try servers.removeExpired(other.id) {
          renewal.gone.append(other.id)
        } else {
          renewal.others.append(other)
        }
      }
      return renewal
    }
    if renewal == nil, identity.current == server { identity.current = nil }
    identity.setOthers(renewal?.others ?? [])
    return renewal
  }

  func unregisterServer(_ server: ServerID) async throws {
    if identity.current == server { identity.current = nil }
    try await perform { try ServerTable(transaction: $0).unregister(server) }
  }

  func servers() async throws -> [RegisteredServer] {
    try await perform { try ServerTable(transaction: $0).servers() }
  }

  func listedServers() async throws -> [ListedServer] {
    try await perform { try ServerTable(transaction: $0).listed() }
  }

  func setNotificationHandler(_ handler: (@Sendable (ServerNotification) -> Void)?) {
    channel.setHandler(handler, in: threads)
  }

  func announceMembership(of server: ServerID) async throws {
    try await perform { [channel] in try channel.send(.joined(server), in: $0) }
  }

  // MARK: Announcements

  func announce(_ announcement: Announcement, from server: ServerID) async throws {
    let names = announcement.subscribers.map { Announcement.text(of: $0) } ?? ""
    let number = announcementNumber.add(1, ordering: .relaxed).newValue
    let name = AnnouncementName(server: server.rawValue, number: number)
    try await perform { [channel] transaction in
      try AnnouncementTable(transaction: transaction).add(name, subscribers: names)
      // A lost notification is harmless: servers also read the announcement in the table.
      try? channel.send(.announced(name, announcement), in: transaction)
    }
  }

  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition) {
    try await perform {
      try AnnouncementTable(transaction: $0).announcements(after: position, for: server)
    }
  }

  func trimAnnouncements(of server: ServerID) async throws {
    try await perform { try AnnouncementTable(transaction: $0).trim(of: server) }
  }
}
