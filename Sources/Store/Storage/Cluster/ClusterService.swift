import CloudKitModel
import SQLEngine
import StoreModel
import Synchronization

/// The servers that share a store: their registrations, the messages between them, and the leases
/// of databases. A lease is the right of one server, the holder, to dispatch a database's changes:
/// to match the changes against subscriptions and write the notifications. A database can be
/// divided into parts (``DatabasePart``), each with a lease of its own.
///
/// A server registers, and renews its registration every few seconds. If a registration expires,
/// any other server removes it. A lease is valid while its holder is registered, so a server renews
/// one row for all its leases, as with the epochs of CockroachDB.
///
/// A transaction that commits changes of a database without a lease gets the lease for its server.
/// If another server has the lease, the transaction sets a mark that wakes up that server. The rows
/// of the leases correspond to the pointers of QuiCK (SIGMOD 2021). All times are those of the
/// store's clock.
///
/// The leases distribute the work, and ensure that no change waits forever. They do not ensure that
/// each change is dispatched once and in order:
/// ``OutboxStore/completeDispatch(of:timestamp:leasing:)`` does, because it compares the changes
/// with the last dispatched one.
///
/// The service has its own thread and connection, because a registration would expire if its
/// renewal waited behind many saves. The thread runs the jobs of ``queue`` in their order. The
/// methods throw ``StoreError/Code/unreachable`` if the database server cannot be reached, and
/// ``StoreError/Code/overloaded`` if 1,000 calls wait. Each statement is a transaction by itself,
/// except in ``StoreTransaction/holding(_:_:)``.
public final class ClusterService: Sendable {
  let identity: ServerIdentity
  /// Each renewal of the registration updates the offset from this machine's clock.
  let clock = StoreClock()
  let channel: ServerChannel
  let queue: JobQueue
  private let threads: ThreadGroup
  private let announcementNumber = Atomic<Int64>(0)

  /// - Parameter connection: only its address is used.
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

  /// Registers this server under a new ID for `leaseTime` seconds.
  ///
  /// - Parameter description: a text for people that says where the server runs.
  public func registerServer(
    _ description: String, for leaseTime: Double
  ) async throws -> ServerID {
    let server = try await perform {
      try ServerTable(transaction: $0).register(description, for: leaseTime)
    }
    identity.current = server
    channel.identityChanged()
    return server
  }

  /// Renews the registration for `leaseTime` seconds from now, and removes the expired
  /// registrations of other servers.
  ///
  /// - Returns: the other servers; nil if another server has removed this server's registration.
  ///   This server must then register again.
  public func renewServer(
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

  /// Ends a server's registration, so that other servers can take over its leases.
  public func unregisterServer(_ server: ServerID) async throws {
    if identity.current == server { identity.current = nil }
    try await perform { try ServerTable(transaction: $0).unregister(server) }
  }

  /// Returns the servers in the order of their IDs, also those whose registrations have expired.
  public func servers() async throws -> [RegisteredServer] {
    try await perform { try ServerTable(transaction: $0).servers() }
  }

  /// Returns the servers with the remaining time of each registration and the number of its leases.
  public func listedServers() async throws -> [ListedServer] {
    try await perform { try ServerTable(transaction: $0).listed() }
  }

  /// Sets the handler for notifications between servers, which a thread of the store calls.
  ///
  /// Some connection pools and some clusters do not transmit PostgreSQL's notifications (`NOTIFY`).
  public func setNotificationHandler(_ handler: (@Sendable (ServerNotification) -> Void)?) {
    channel.setHandler(handler, in: threads)
  }

  /// Sends ``ServerNotification/joined(_:)`` to all servers that listen, this server included.
  public func announceMembership(of server: ServerID) async throws {
    try await perform { [channel] in try channel.send(.joined(server), in: $0) }
  }

  // MARK: Announcements

  /// Sends an announcement to the other servers.
  public func announce(_ announcement: Announcement, from server: ServerID) async throws {
    let names = announcement.subscribers.map { Announcement.text(of: $0) } ?? ""
    let number = announcementNumber.add(1, ordering: .relaxed).newValue
    let name = AnnouncementName(server: server.rawValue, number: number)
    try await perform { [channel] transaction in
      try AnnouncementTable(transaction: transaction).add(name, subscribers: names)
      // A lost notification is harmless: servers also read the announcement in the table.
      try? channel.send(.announced(name, announcement), in: transaction)
    }
  }

  /// Returns the other servers' announcements after a position, and the position for the next call.
  /// The first call passes a new ``AnnouncementPosition`` and gets none. The store keeps an
  /// announcement for at least a minute.
  public func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) async throws -> (announcements: [Announcement], position: AnnouncementPosition) {
    try await perform {
      try AnnouncementTable(transaction: $0).announcements(after: position, for: server)
    }
  }

  /// Deletes the announcements that this server made more than a minute ago.
  public func trimAnnouncements(of server: ServerID) async throws {
    try await perform { try AnnouncementTable(transaction: $0).trim(of: server) }
  }
}
