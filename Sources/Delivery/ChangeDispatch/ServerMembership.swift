import StoreModel
import Synchronization

/// This server among those that share a store: it keeps its registration alive, takes the databases that
/// nobody dispatches, gives up those with nothing to do, and tells the others for whom there are
/// notifications.
///
/// Nothing that is right or wrong rests on it: a server that was taken for gone finds out when it writes.
public final class ServerMembership: Sendable {
  public struct Configuration: Sendable {
    /// What the server is called for people.
    public var description: @Sendable () -> String = { "" }
    /// After so many seconds without a sign of life a server is taken for gone; it gives one three times
    /// as often.
    public var leaseTime = 5.0
    /// How often the store is asked for what other servers have committed, in seconds, where they cannot
    /// wake this one up.
    public var pollInterval = 0.1
    /// The same where they can.
    public var calmPollInterval = 1.0
    /// How often the server sends the others a sign of life, in seconds. From whom none comes three times, no
    /// wake-ups come either.
    public var signInterval = 1.0
    /// What notifications lead to is done at least so many seconds after the last, and so are announcements.
    public var wakeUpGap = 0.01
    /// How often databases are looked for that nobody dispatches, in seconds.
    public var scanInterval = 1.0
    /// After so many seconds with nothing to do a database is given up.
    public var idleTime = 5.0
    /// Databases that are taken or given up at once.
    public var batchSize = 64
    /// Users in one announcement; with more it is for everybody.
    public var announcedUsers = 1_000
    /// Where its tasks run; nil is Swift's own pool.
    public var executor: (any TaskExecutor)?

    public init() {}
  }

  public struct Metrics: Sendable, Hashable {
    /// Servers that have the store open, this one among them.
    public var servers = 0
    /// Databases, and parts of such as are divided, whose changes this server dispatches.
    public var leases = 0
    /// The parts among them.
    public var parts = 0
    /// Parts that this server left to others, for each to have its share.
    public var partsReleased = 0
    /// Those taken over that another had, or nobody.
    public var leasesTaken = 0
    /// Those that others took over.
    public var leasesLost = 0
    /// How often this server was taken for gone.
    public var lapses = 0
    /// Other servers that this one took for gone.
    public var serversStruckOff = 0
    /// Notifications of servers that came, also of this one.
    public var notificationsReceived = 0
    /// Whether notifications of all servers come, so that the store is seldom asked.
    public var isHearing = false
    /// How often the store was asked for what other servers have committed.
    public var looks = 0
    /// Why the last attempt failed to reach the store; nil when one went well since.
    public var fault: String?
  }

  /// What the server does about what its membership brings.
  public struct Handlers: Sendable {
    /// Deliveries of servers that are gone are to be taken over.
    public var onServersGone: @Sendable () -> Void
    /// There are notifications for these users, or for anyone.
    public var onAnnounced: @Sendable (Set<String>?) -> Void
    /// Whether somebody waits for notifications.
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
    /// Users to be told of; nil for everybody.
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

  /// What it needs of the dispatcher.
  struct Lanes: Sendable {
    /// The outbox of these databases is to be looked into.
    var look: @Sendable ([DatabasePart]) -> Void
    /// Whether a database has changes that are not dispatched yet.
    var isOpen: @Sendable (DatabasePart) -> Bool
    /// A part is another server's from now on.
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

  /// What the server does about what its membership brings; without, nothing.
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

  /// As which server this one is registered; nil when it is not.
  public var server: ServerID? { state.withLock { $0.server } }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  func start(with lanes: Lanes) {
    self.lanes.withLock { $0 = lanes }
    store.setNotificationHandler { [weak self] in self?.take($0) }
    tasks.withLock { tasks in
      guard tasks.isEmpty else { return }
      tasks = [
        Task(executorPreference: configuration.executor) { await self.run() },
        Task(executorPreference: configuration.executor) { await self.tell() },
      ]
    }
  }

  /// Takes no more databases.
  func drain() {
    state.withLock { $0.isDraining = true }
  }

  /// Ends the registration, so that others take at once what there is left to do.
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
      // Ends pauses; the store's calls do not notice.
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

  /// What is leased to this server; nothing before it is registered.
  func leasedParts() async throws -> [DatabasePart] {
    guard let server else { return [] }
    return try await store.leasedParts(of: server)
  }

  /// Changes of these databases were committed, and are this server's to dispatch.
  func use(_ entries: [OutboxEntry]) {
    let now = ContinuousClock.now
    state.withLock { state in
      for entry in entries { state.held.use(entry.part, at: now) }
    }
  }

  /// Whether a database that another was said to dispatch is this server's after all.
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

  /// There are notifications for these users; others may wait for them at another server.
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
