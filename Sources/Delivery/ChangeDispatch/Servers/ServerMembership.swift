import Concurrency
import Storage
import StoreModel
import Synchronization

/// This server's membership in a cluster of servers on one store.
///
/// A *lease* gives one server the right to dispatch the changes of a database, or of one part of a
/// divided database. The membership renews the server's registration, leases databases that no
/// server dispatches, and ends unused leases. It announces to the other servers which users have
/// new notifications.
///
/// The correctness of the dispatch does not depend on this class: the store refuses to record a
/// dispatch by a server that has lost the lease. Any thread may call the public methods.
public final class ServerMembership: Sendable {
  /// The intervals and limits of the membership.
  public struct Configuration: Sendable {
    /// Returns the server's name for the logs of the other servers.
    public var description: @Sendable () -> String = { "" }
    /// The seconds after which a registration expires. The server renews the registration after a
    /// third of this time.
    public var leaseTime = 5.0
    /// The interval in seconds at which the server polls the store for changes of other servers,
    /// while notifications do not arrive. A *wake-up* is a notification that another server has
    /// committed changes.
    public var pollInterval = 0.1
    /// The interval in seconds of the same polling while notifications arrive.
    public var calmPollInterval = 1.0
    /// The interval of heartbeats in seconds. If no heartbeat of a server arrives for three
    /// intervals, this server counts notifications as not arriving.
    public var signInterval = 1.0
    /// The least time in seconds between two rounds of the periodic work, and between two
    /// announcements.
    public var wakeUpGap = 0.01
    /// The interval in seconds of scans for databases without a lease. Each interval varies
    /// randomly by up to 20 %.
    public var scanInterval = 1.0
    /// The seconds without work after which the server ends the lease of a database.
    public var idleTime = 5.0
    /// The greatest number of databases that one scan leases, and the greatest number whose leases
    /// it ends.
    public var batchSize = 64
    /// The greatest number of users in one announcement. With more, the announcement is for all
    /// users.
    public var announcedUsers = 1_000
    /// The executor of the tasks; `nil` for Swift's global executor.
    public var executor: (any TaskExecutor)?

    /// Creates the default configuration.
    public init() {}
  }

  /// The counters since the start, and the present state.
  public struct Metrics: Sendable, Hashable {
    /// The number of registered servers, this one included; 0 while this one is not registered.
    public var servers = 0
    /// The number of leases of this server: databases, and parts of divided databases.
    public var leases = 0
    /// The number of parts of divided databases among ``leases``.
    public var parts = 0
    /// The number of parts that this server released for balance.
    public var partsReleased = 0
    /// The number of leases that this server took.
    public var leasesTaken = 0
    /// The number of leases that this server lost: its registration expired, or another server had
    /// the lease when a write failed.
    public var leasesLost = 0
    /// The number of times that another server removed the expired registration of this server.
    public var lapses = 0
    /// The number of other servers whose expired registration this server removed.
    public var expiredServersRemoved = 0
    /// The number of notifications received from servers, this one included.
    public var notificationsReceived = 0
    /// Whether the notifications of all servers arrive, so that the store is rarely polled.
    public var receivesNotifications = false
    /// The number of times that this server read from the store in which databases other servers
    /// have committed changes.
    public var looks = 0
    /// The last failure to reach the store; `nil` after a success.
    public var fault: String?
  }

  /// The handlers of membership events.
  public struct Handlers: Sendable {
    /// Takes over the deliveries of servers that are gone.
    public var onServersGone: @Sendable () -> Void
    /// Notifies the readers of these users of new notifications; `nil` means all users.
    public var onAnnounced: @Sendable (Set<String>?) -> Void
    /// Returns whether a reader waits for notifications.
    public var isListening: @Sendable () -> Bool

    /// Creates handlers. They are called on a task of the membership or on a thread of the store.
    public init(
      onServersGone: @escaping @Sendable () -> Void,
      onAnnounced: @escaping @Sendable (Set<String>?) -> Void,
      isListening: @escaping @Sendable () -> Bool
    ) {
      self.onServersGone = onServersGone
      self.onAnnounced = onAnnounced
      self.isListening = isListening
    }
  }

  /// The state under the lock.
  struct State {
    /// The ID of this server; `nil` while it is not registered.
    var server: ServerID?
    var others: Set<ServerID> = []
    var held = HeldLeases()
    var metrics = Metrics()
    /// The users to announce; `nil` for all users, and empty for none.
    var announced: Set<String>? = []
    /// The content of notifications that the next round has to handle.
    var pending = Pending()
    /// Whether the server leases no more databases and parts.
    var isDraining = false
    var isStopped = false
  }

  let store: ClusterService
  let configuration: Configuration
  let report: @Sendable (WorkReport) -> Void
  let state = Mutex(State())
  /// The signal that wakes the periodic work.
  let signal = AsyncSignal()
  /// The signal that wakes the announcing task.
  let announcing = AsyncSignal()
  /// The dispatcher's operations; `nil` before ``start(with:)``.
  private let lanes = Mutex<Lanes?>(nil)
  /// The handlers; `nil` for none.
  private let handling = Mutex<Handlers?>(nil)
  /// The tasks; empty before ``start(with:)``.
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// The operations of the dispatcher that the membership uses.
  struct Lanes: Sendable {
    /// Makes the lanes of these databases read the outbox. A *lane* is the dispatch of one database
    /// or part.
    var look: @Sendable ([DatabasePart]) -> Void
    /// Returns whether the lane of a database has work or is being served.
    var isOpen: @Sendable (DatabasePart) -> Bool
    var forget: @Sendable (DatabasePart) -> Void
  }

  /// How the periodic work fares, in the list of background work.
  package let job = BackgroundJob(
    "membership", of: "ChangeDispatch",
    "every second or less, and when other servers announce changes")

  /// Creates a membership. It does nothing before the dispatcher starts it, and then registers the
  /// server.
  ///
  /// - Parameter report: Receives the lines for the server's log.
  public init(
    store: ClusterService,
    configuration: Configuration = Configuration(),
    report: @escaping @Sendable (WorkReport) -> Void
  ) {
    self.store = store
    self.configuration = configuration
    self.report = report
  }

  /// The handlers of membership events; `nil` for none.
  public var handlers: Handlers? {
    get { handling.withLock { $0 } }
    set { handling.withLock { $0 = newValue } }
  }

  /// The counters and the state of the membership.
  public var metrics: Metrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.leases = state.held.count
      metrics.parts = state.held.parts.count
      metrics.servers = state.server == nil ? 0 : state.others.count + 1
      return metrics
    }
  }

  /// The ID of this server's registration; `nil` while the server is not registered.
  public var server: ServerID? { state.withLock { $0.server } }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Starts the periodic work and the announcing task. A second call does not start them again.
  func start(with lanes: Lanes) {
    self.lanes.withLock { $0 = lanes }
    store.setNotificationHandler { [weak self] in self?.take($0) }
    tasks.withLock { tasks in
      guard tasks.isEmpty else { return }
      tasks = [
        Task(executorPreference: configuration.executor) { await self.run() },
        Task(executorPreference: configuration.executor) { await self.announce() },
      ]
    }
  }

  /// Makes the server lease no more databases and parts. The present leases stay.
  func drain() {
    state.withLock { $0.isDraining = true }
  }

  /// Stops the work and ends the registration, so that other servers can lease the databases at
  /// once. If the store fails, the registration expires later.
  public func stop() async {
    let server = state.withLock { state in
      state.isStopped = true
      defer { state.server = nil }
      return state.server
    }
    store.setNotificationHandler(nil)
    signal.signal()
    announcing.signal()
    for task in tasks.withLock({ $0 }) {
      // The cancellation ends pauses. Calls of the store ignore it.
      task.cancel()
      await task.value
    }
    guard let server else { return }
    do {
      try await store.unregisterServer(server)
    } catch {
      report(
        WorkReport(
          "the server could not unregister; other servers take over when its registration "
            + "expires",
          ["cause": .cause(error)]))
    }
  }

  /// Returns the databases and parts leased to this server; none while the server is not
  /// registered.
  func leasedParts() async throws -> [DatabasePart] {
    guard let server else { return [] }
    return try await store.leasedParts(of: server)
  }

  /// Records that these changes were committed for this server to dispatch. The leases of their
  /// databases are added, and count as used now.
  func use(_ entries: [OutboxEntry]) {
    let now = ContinuousClock.now
    state.withLock { state in
      for entry in entries { state.held.use(entry.part, at: now) }
    }
  }

  /// Checks in the store whether this server still has a lease. Call the method after a write
  /// failed with `StoreError.Code.leaseLost`. A lost lease is removed and counted.
  ///
  /// - Returns: `true` if this server has the lease.
  func hasLease(of part: DatabasePart) async throws -> Bool {
    guard let server else { return false }
    let isHeld = try await store.isLeased(part, to: server)
    if !isHeld {
      state.withLock { state in
        state.held.end(part)
        state.metrics.leasesLost += 1
      }
    }
    return isHeld
  }

  /// Announces new notifications of these users to the other servers, where their readers may wait.
  /// Without other servers, the call does nothing.
  public func announce(_ subscribers: Set<String>) {
    let isNews = state.withLock { state in
      guard !state.others.isEmpty, !subscribers.isEmpty else { return false }
      if let known = state.announced {
        let all = known.union(subscribers)
        state.announced = all.count > configuration.announcedUsers ? nil : all
      }
      return true
    }
    if isNews { announcing.signal() }
  }

  func look(into parts: [DatabasePart]) {
    lanes.withLock { $0 }?.look(parts)
  }

  func isOpen(_ part: DatabasePart) -> Bool {
    lanes.withLock { $0 }?.isOpen(part) ?? false
  }

  func forget(_ part: DatabasePart) {
    lanes.withLock { $0 }?.forget(part)
  }
}
