import StoreModel
import Synchronization

/// This server's membership in a cluster of servers on one store.
///
/// It renews the server's registration, leases databases that no server dispatches, ends unused
/// leases, and announces to the other servers which users have new notifications. A *lease* gives
/// one server the right to dispatch the changes of a database.
///
/// The correctness of the dispatch does not depend on this class: the store refuses a write of a
/// server whose registration expired. Any thread may call the public methods.
public final class ServerMembership: Sendable {
  /// The intervals and limits of the membership.
  public struct Configuration: Sendable {
    /// Returns the server's name for the logs of the other servers.
    public var description: @Sendable () -> String = { "" }
    /// The seconds after which a registration expires. The server renews it three times as often.
    public var leaseTime = 5.0
    /// The interval in seconds at which the server polls for changes of other servers, while their
    /// wake-ups do not arrive.
    public var pollInterval = 0.1
    /// The same interval while wake-ups arrive.
    public var calmPollInterval = 1.0
    /// The interval of heartbeats in seconds. After three missing heartbeats, a server's wake-ups
    /// count as not received.
    public var signInterval = 1.0
    /// The least seconds between two rounds caused by notifications, and between two announcements.
    public var wakeUpGap = 0.01
    /// The interval in seconds of scans for databases without a lease.
    public var scanInterval = 1.0
    /// The seconds without work after which the server ends the lease of a database.
    public var idleTime = 5.0
    /// The greatest number of databases that are leased or released at once.
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
    /// The number of databases, and parts of divided ones, whose changes this server dispatches.
    public var leases = 0
    /// The number of parts among them.
    public var parts = 0
    /// The number of parts that this server released for balance.
    public var partsReleased = 0
    /// The number of leases that this server took.
    public var leasesTaken = 0
    /// The number of leases that other servers took over.
    public var leasesLost = 0
    /// The number of times that this server's registration expired.
    public var lapses = 0
    /// The number of other servers whose registration this one removed.
    public var expiredServersRemoved = 0
    /// The number of notifications received from servers, this one included.
    public var notificationsReceived = 0
    /// Whether the notifications of all servers arrive, so that the store is rarely polled.
    public var receivesNotifications = false
    /// The number of times that the store was polled for changes of other servers.
    public var looks = 0
    /// The last failure to reach the store; `nil` after a success.
    public var fault: String?
  }

  /// The handlers of membership events.
  public struct Handlers: Sendable {
    /// The handler that takes over the deliveries of servers that are gone.
    public var onServersGone: @Sendable () -> Void
    /// The handler of new notifications for these users; `nil` means all users.
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
    /// The other registered servers at the last renewal.
    var others: Set<ServerID> = []
    /// The leases of this server.
    var held = HeldLeases()
    /// The counters.
    var metrics = Metrics()
    /// The users to announce; `nil` for all users.
    var announced: Set<String>? = []
    /// The effects of notifications that were not handled yet.
    var pending = Pending()
    /// Whether the server takes no more leases.
    var isDraining = false
    /// Whether the membership was stopped.
    var isStopped = false
  }

  /// The parts of the store that the membership uses.
  let store: any ClusterMembership & DispatchLeases & PartitionStore
  /// The intervals and limits.
  let configuration: Configuration
  /// Receives the lines for the server's log.
  let report: @Sendable (WorkReport) -> Void
  /// The state.
  let state = Mutex(State())
  /// The signal that wakes the periodic work.
  let signal = WakeSignal()
  /// The signal that wakes the announcing task.
  let announcing = WakeSignal()
  /// The dispatcher's operations; `nil` before ``start(with:)``.
  private let lanes = Mutex<Lanes?>(nil)
  /// The handlers; `nil` for none.
  private let handling = Mutex<Handlers?>(nil)
  /// The tasks; empty before ``start(with:)``.
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// The operations of the dispatcher that the membership uses.
  struct Lanes: Sendable {
    /// Makes the lanes of these databases read the outbox.
    var look: @Sendable ([DatabasePart]) -> Void
    /// Returns whether a database has undispatched changes.
    var isOpen: @Sendable (DatabasePart) -> Bool
    /// Drops a part that another server dispatches now.
    var forget: @Sendable (DatabasePart) -> Void
  }

  /// Creates a membership. It registers the server when the dispatcher starts it.
  ///
  /// - Parameter report: Receives a line for the server's log.
  public init(
    store: any ClusterMembership & DispatchLeases & PartitionStore,
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

  /// The ID of this server's registration; `nil` while it is not registered.
  public var server: ServerID? { state.withLock { $0.server } }

  /// Whether the membership was stopped.
  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Starts the periodic work. A second call does not start it again.
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

  /// Makes the server take no more leases.
  func drain() {
    state.withLock { $0.isDraining = true }
  }

  /// Stops the work and ends the registration, so that other servers take its leases at once.
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

  /// Returns the databases and parts leased to this server; none while it is not registered.
  func leasedParts() async throws -> [DatabasePart] {
    guard let server else { return [] }
    return try await store.leasedParts(of: server)
  }

  /// Records that changes of these databases were committed for this server to dispatch. The
  /// databases count as used now.
  func use(_ entries: [OutboxEntry]) {
    let now = ContinuousClock.now
    state.withLock { state in
      for entry in entries { state.held.use(entry.part, at: now) }
    }
  }

  /// Checks in the store whether this server still has a lease. Call it after a write failed with
  /// ``StoreError/Code/leaseLost``. A lost lease is removed from the held ones and counted.
  ///
  /// - Returns: Whether this server has the lease.
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

  /// Announces notifications for these users, whose readers may be waiting at another server.
  /// Without other servers, it does nothing.
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

  /// Makes the lanes of these databases read the outbox.
  func look(into parts: [DatabasePart]) {
    lanes.withLock { $0 }?.look(parts)
  }

  /// Whether a database has undispatched changes.
  func isOpen(_ part: DatabasePart) -> Bool {
    lanes.withLock { $0 }?.isOpen(part) ?? false
  }

  /// Drops a part that another server dispatches now.
  func forget(_ part: DatabasePart) {
    lanes.withLock { $0 }?.forget(part)
  }
}
