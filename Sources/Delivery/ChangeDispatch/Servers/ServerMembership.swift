import StoreModel
import Synchronization

/// This server's membership in a cluster. It renews the registration, leases databases without a
/// holder, ends unused leases, and announces to the other servers which users have new
/// notifications.
///
/// Correctness does not depend on it: a server whose registration expired finds out when it writes.
public final class ServerMembership: Sendable {
  public struct Configuration: Sendable {
    /// The server's name for people.
    public var description: @Sendable () -> String = { "" }
    /// The seconds after which a registration expires; it is renewed three times as often.
    public var leaseTime = 5.0
    /// The interval in seconds of polling for other servers' changes, while their wake-ups do not
    /// arrive.
    public var pollInterval = 0.1
    /// The same interval while wake-ups arrive.
    public var calmPollInterval = 1.0
    /// The interval of heartbeat notifications in seconds. After three missing heartbeats, a
    /// server's wake-ups count as not received.
    public var signInterval = 1.0
    /// The least seconds between two rounds caused by notifications, and between two announcements.
    public var wakeUpGap = 0.01
    /// The interval of scans for databases without a lease, in seconds.
    public var scanInterval = 1.0
    /// The seconds without work after which a database's lease ends.
    public var idleTime = 5.0
    /// The most databases that are leased or released at once.
    public var batchSize = 64
    /// The most users in one announcement; with more, it is for all users.
    public var announcedUsers = 1_000
    /// Where its tasks run; nil is Swift's own pool.
    public var executor: (any TaskExecutor)?

    public init() {}
  }

  public struct Metrics: Sendable, Hashable {
    /// The number of servers that have the store open, including this one.
    public var servers = 0
    /// The number of databases, and parts of divided ones, whose changes this server dispatches.
    public var leases = 0
    /// The number of parts among them.
    public var parts = 0
    /// The number of parts that this server released for balance.
    public var partsReleased = 0
    /// The number of leases that it took.
    public var leasesTaken = 0
    /// The number of leases that other servers took over.
    public var leasesLost = 0
    /// How often this server's registration expired.
    public var lapses = 0
    /// The number of other servers that this one removed.
    public var expiredServersRemoved = 0
    /// The number of notifications received from servers, including this one.
    public var notificationsReceived = 0
    /// Whether the notifications of all servers arrive, so that the store is rarely polled.
    public var receivesNotifications = false
    /// How often the store was polled for other servers' changes.
    public var looks = 0
    /// The last failure to reach the store; nil after a success.
    public var fault: String?
  }

  /// Handlers of membership events.
  public struct Handlers: Sendable {
    /// Takes over the deliveries of servers that are gone.
    public var onServersGone: @Sendable () -> Void
    /// There are notifications for these users; nil means all users.
    public var onAnnounced: @Sendable (Set<String>?) -> Void
    /// Whether a reader waits for notifications.
    public var isListening: @Sendable () -> Bool

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

  struct State {
    var server: ServerID?
    var others: Set<ServerID> = []
    var held = HeldLeases()
    var metrics = Metrics()
    /// The users to announce; nil for all users.
    var announced: Set<String>? = []
    var pending = Pending()
    var isDraining = false
    var isStopped = false
  }

  let store: any ClusterMembership & DispatchLeases & PartitionStore
  let configuration: Configuration
  let report: @Sendable (WorkReport) -> Void
  let state = Mutex(State())
  let signal = WakeSignal()
  let announcing = WakeSignal()
  private let lanes = Mutex<Lanes?>(nil)
  private let handling = Mutex<Handlers?>(nil)
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// The dispatcher's operations that the membership uses.
  struct Lanes: Sendable {
    /// Makes these databases' lanes read the outbox.
    var look: @Sendable ([DatabasePart]) -> Void
    /// Whether a database has undispatched changes.
    var isOpen: @Sendable (DatabasePart) -> Bool
    /// Drops a part that another server dispatches now.
    var forget: @Sendable (DatabasePart) -> Void
  }

  public init(
    store: any ClusterMembership & DispatchLeases & PartitionStore,
    configuration: Configuration = Configuration(),
    report: @escaping @Sendable (WorkReport) -> Void
  ) {
    self.store = store
    self.configuration = configuration
    self.report = report
  }

  /// The handlers of membership events; nil for none.
  public var handlers: Handlers? {
    get { handling.withLock { $0 } }
    set { handling.withLock { $0 = newValue } }
  }

  public var metrics: Metrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.leases = state.held.count
      metrics.parts = state.held.parts.count
      metrics.servers = state.server == nil ? 0 : state.others.count + 1
      return metrics
    }
  }

  /// The ID of this server's registration; nil if it is not registered.
  public var server: ServerID? { state.withLock { $0.server } }

  var isStopped: Bool { state.withLock { $0.isStopped } }

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

  /// Takes no more leases.
  func drain() {
    state.withLock { $0.isDraining = true }
  }

  /// Ends the registration, so that other servers take its leases at once.
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
      // Ends pauses. Calls of the store ignore the cancellation.
      task.cancel()
      await task.value
    }
    guard let server else { return }
    do {
      try await store.unregisterServer(server)
    } catch {
      report(
        WorkReport(
          "the server could not be unregistered; others take over when its time is over",
          ["cause": .cause(error)]))
    }
  }

  /// The databases and parts leased to this server; none before it is registered.
  func leasedParts() async throws -> [DatabasePart] {
    guard let server else { return [] }
    return try await store.leasedParts(of: server)
  }

  /// Notes that changes of these databases were committed for this server to dispatch.
  func use(_ entries: [OutboxEntry]) {
    let now = ContinuousClock.now
    state.withLock { state in
      for entry in entries { state.held.use(entry.part, at: now) }
    }
  }

  /// Whether this server has the lease of a database that another one was reported to have.
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

  /// Announces notifications for these users, who may be waiting at another server.
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
