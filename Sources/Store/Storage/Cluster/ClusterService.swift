import CloudKitModel
import SQLEngine
import StoreModel
import Synchronization

/// The membership, leases and announcements of the servers that share a store. A server is a member
/// while its registration is valid. A lease is the right of one server to dispatch a database's
/// changes. An announcement names users who have new notifications.
///
/// The service has its own thread and connection, because a registration would expire if its
/// renewal waited behind many saves. Each statement is a transaction by itself, except in
/// ``StoreTransaction/holding(_:_:)``.
///
/// One thread runs the jobs of ``queue`` in their order. Methods may be called from any task.
/// Servers call them every few seconds, and after commits that concern other servers.
final class ClusterService: ClusterStore {
  /// The object with this server's ID, which the writers use when they commit.
  let identity: ServerIdentity
  /// The offset of the store's clock from this machine's clock. Each renewal of the registration
  /// updates the offset.
  let clock = StoreClock()
  /// The sender and receiver of notifications between servers.
  let channel: ServerChannel
  /// The jobs of the service's thread, at most 1,000. Further jobs fail with
  /// ``StoreError/Code/overloaded``.
  let queue: JobQueue
  private let threads: ThreadGroup
  /// The number of the last announcement that this process made. The number and the server's ID
  /// identify an announcement.
  private let announcementNumber = Atomic<Int64>(0)

  /// Creates the service; ``work(over:)`` runs its jobs.
  ///
  /// - Parameters:
  ///   - connection: a connection to the store, of which only the address is used.
  ///   - identity: the object that the writers' transactions share with the service.
  ///   - threads: the group in which the listener's thread is started.
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

  /// Refuses further jobs, and ends the listener's thread. The service's thread ends after the
  /// waiting jobs.
  func close() {
    queue.close()
    channel.close()
  }

  /// Runs jobs until the queue is closed and empty. The method is the body of the service's thread.
  ///
  /// A job whose connection was lost runs once more on a new connection.
  func work(over connection: StoreConnection) {
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        do {
          do {
            try run(job, over: connection)
          } catch let error as StoreError where error.code == .unreachable {
            // The first run may have changed rows already, but a repeated run of a job is harmless.
            try run(job, over: connection)
          }
          job.finish(nil)
        } catch {
          job.finish(error)
        }
      }
    }
  }

  /// Connects if there is no connection, and runs a job.
  private func run(_ job: any StoreJob, over connection: StoreConnection) throws {
    try connection.engine.getReady()
    try job.run(in: StoreTransaction(over: connection))
  }

  /// Runs `body` on the service's thread, and returns its result.
  ///
  /// - Throws: the error of `body`; ``StoreError/Code/overloaded`` or ``StoreError/Code/closed`` if
  ///   the queue is full or closed.
  @discardableResult
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.add(ContinuationJob(continuation, body))
    }
  }

  // MARK: Membership

  /// Registers this server under a new ID, and uses the ID for all later commits.
  ///
  /// - Parameters:
  ///   - description: a text for administrators that says where the server runs.
  ///   - leaseTime: the seconds for which the registration is valid without a renewal.
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

  /// Renews a server's registration, and removes the registrations of other servers that have
  /// expired.
  ///
  /// - Parameter leaseTime: the seconds for which the registration is valid from now on.
  /// - Returns: the other servers, and the servers that this call removed; nil if the server's own
  ///   registration was removed before. The process is then unregistered until it registers again.
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

  /// Removes a registration. The server's leases become free, because their holder is not
  /// registered any more.
  func unregisterServer(_ server: ServerID) async throws {
    if identity.current == server { identity.current = nil }
    try await perform { try ServerTable(transaction: $0).unregister(server) }
  }

  /// Returns the registered servers, in the order of their IDs. A server whose registration has
  /// expired is in the result until another server removes the registration.
  func servers() async throws -> [RegisteredServer] {
    try await perform { try ServerTable(transaction: $0).servers() }
  }

  /// Returns the registered servers, for administrators. Each has the remaining time of its
  /// registration and the number of its leases.
  func listedServers() async throws -> [ListedServer] {
    try await perform { try ServerTable(transaction: $0).listed() }
  }

  /// Sets the handler of notifications; see ``ServerChannel/setHandler(_:in:)``.
  func setNotificationHandler(_ handler: (@Sendable (ServerNotification) -> Void)?) {
    channel.setHandler(handler, in: threads)
  }

  /// Sends a notification to all servers that a server has joined. The server that sends the
  /// notification gets it too, if it has a handler.
  func announceMembership(of server: ServerID) async throws {
    try await perform { [channel] in try channel.send(.joined(server), in: $0) }
  }

  // MARK: Announcements

  /// Stores an announcement, and then sends it as a notification.
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

  /// Returns the announcements of other servers after a position, and the next position; see
  /// ``AnnouncementTable/announcements(after:for:)``.
  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition) {
    try await perform {
      try AnnouncementTable(transaction: $0).announcements(after: position, for: server)
    }
  }

  /// Deletes the announcements of a server that are older than a minute.
  func trimAnnouncements(of server: ServerID) async throws {
    try await perform { try AnnouncementTable(transaction: $0).trim(of: server) }
  }
}
