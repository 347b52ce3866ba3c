import CloudKitModel
import PushChannels
import StoreModel
import Synchronization

/// Sends deliveries from the store to the devices, and stores their outcomes.
///
/// A delivery is a row until it has an outcome. New ones are leased to the worker when they are
/// logged, and come in memory. Others are taken from the store: those of an earlier process, those
/// to be tried again, and those beyond the capacity. Each route has a capacity of its own, so a
/// slow or broken route delays no other.
public final class DeliveryWorker: Sendable {
  public struct Configuration: Sendable {
    /// The most deliveries of one route under way at once; the others wait in the store.
    public var capacity = 4_096
    /// The most deliveries taken from the store at once.
    public var takingSize = 1_000
    /// The most outcomes written in one transaction.
    public var updateBatchSize = 500
    /// The seconds for which a delivery is leased to the worker. If the process dies, other servers
    /// of the store wait that long.
    public var leaseTime = 60.0
    /// How long ``DeliveryWorker/stop()`` waits for outcomes, in seconds.
    public var stopTime = 5.0
    /// How long a route rests that an administrator must repair, in seconds.
    public var suspensionDelay = 60.0
    /// Seconds between two silent pushes to a device; 0 for no limit.
    public var silentPushInterval = 0.0
    /// The most devices whose pace is remembered.
    public var pacedDevices = 100_000
    /// The number of waiting deliveries above which a device's silent ones are merged whatever
    /// their subscriptions.
    public var waitingLimit = 1_000_000
    /// The number of deliveries without an outcome at which no more are written: their
    /// notifications are only logged.
    public var owedLimit = Int.max
    /// The same limit for one user in one database.
    public var owedLimitOfUser = Int.max
    /// Called with the result of each attempt; nil for none. It must not block.
    public var trace: (@Sendable (Delivery, DeliveryUpdate.State) -> Void)?
    /// Where the worker's tasks run; nil is Swift's own pool.
    public var executor: (any TaskExecutor)?

    public init() {}
  }

  /// Counts and state of the worker.
  public struct Metrics: Sendable, Hashable {
    public var delivered = 0
    /// Abandoned for a reason other than the following.
    public var abandoned = 0
    /// Abandoned because they expired.
    public var expired = 0
    /// Refused because of a fault in Petrel, and kept for inspection.
    public var refused = 0
    /// Replaced by a newer delivery.
    public var merged = 0
    /// Attempts to be repeated.
    public var retried = 0
    /// Deliveries postponed because of their device's pace.
    public var postponed = 0
    public var underWay = 0
    /// The approximate number of deliveries that wait in the store.
    public var waiting = 0
    /// Whether so many wait that silent ones are merged whatever their subscriptions.
    public var isMergingHarder = false
    /// The number of routes that rest because they do not work.
    public var restingRoutes = 0
  }

  let store: any DeliveryQueue
  let configuration: Configuration
  let route: @Sendable (DeviceToken) -> PushRoute?
  let clock: @Sendable () -> Timestamp
  let random: @Sendable () -> Double
  let report: @Sendable (WorkReport) -> Void
  let state: Mutex<DeliveryWorkerState>
  /// The holder of the worker's leases: this server's ID in a cluster. Nil while it is not
  /// registered.
  let holder: @Sendable () -> Int64?
  let backlogs: UserBacklogs
  let takerSignal = WakeSignal()
  let recorderSignal = WakeSignal()
  let settlement = Settlement()
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// - Parameters:
  ///   - server: this server's membership in a cluster; nil if it uses the store alone.
  ///   - route: the route to a device; nil if its container is not set up for pushes to it.
  ///   - random: numbers in 0 ..< 1, for the random part of delays.
  ///   - report: takes a line for the server's log that concerns the administrator.
  public init(
    store: any DeliveryQueue, configuration: Configuration = Configuration(),
    server: (@Sendable () -> ServerID?)? = nil,
    clock: @escaping @Sendable () -> Timestamp = { .now },
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    report: @escaping @Sendable (WorkReport) -> Void,
    route: @escaping @Sendable (DeviceToken) -> PushRoute?
  ) {
    self.store = store
    self.configuration = configuration
    backlogs = UserBacklogs(limit: configuration.owedLimitOfUser)
    let own = Int64.random(in: 1 << 62...Int64.max)
    holder = {
      guard let server else { return own }
      return server()?.rawValue
    }
    self.route = route
    self.clock = clock
    self.random = random
    self.report = report
    state = Mutex(DeliveryWorkerState(configuration))
  }

  public var metrics: Metrics { state.withLock { $0.currentMetrics } }

  public var times: DeliveryTimes { state.withLock { $0.times } }

  public func start() {
    tasks.withLock { tasks in
      guard tasks.isEmpty else { return }
      tasks = [
        Task(executorPreference: configuration.executor) { await self.take() },
        Task(executorPreference: configuration.executor) { await self.record() },
      ]
    }
  }

  /// The number of deliveries about to be logged that the worker can send at once. 0 before it has
  /// taken over an earlier process's deliveries, so that those are not overtaken.
  public func capacity() -> DeliveryCapacity {
    let holder = holder()
    return state.withLock { state in
      let isReady = state.isPrepared && !state.isStopped && holder != nil
      return DeliveryCapacity(
        lease: lease(of: holder ?? 0),
        capacities: state.schedules.mapValues { isReady ? $0.free : 0 },
        otherCapacity: isReady ? configuration.capacity : 0,
        unwritten: max(0, configuration.owedLimit - max(0, state.owed ?? 0)), backlogs: backlogs,
        isSetUp: { [route] in route($0) != nil })
    }
  }

  var isPrepared: Bool { state.withLock { $0.isPrepared } }

  func lease(of holder: Int64) -> DeliveryLease {
    DeliveryLease(
      holder: holder, until: clock().advanced(bySeconds: configuration.leaseTime))
  }

  /// Returns when no delivery is under way or due: each was sent, and its outcome is in the store.
  /// It does not wait for deliveries that are to be tried again later. After ``stop()`` it returns
  /// at once; before ``start()`` it does not return.
  public func settled() async {
    // The task that signals the end may have checked a moment ago.
    repeat {
      await settlement.wait { state.withLock { $0.isSettled } }
    } while !state.withLock { $0.isSettled }
  }

  /// Takes over the deliveries of servers that are gone.
  public func takeOver() {
    state.withLock { $0.isToTakeOver = true }
    takerSignal.signal()
  }

  /// Checks again for due deliveries, as is needed after the clock was set forward.
  public func lookForDueDeliveries() {
    let now = clock()
    state.withLock { $0.lookAgain(at: now) }
    takerSignal.signal()
  }

  /// Takes no more deliveries, writes the outcomes of those under way, and stops after
  /// ``Configuration/stopTime`` at the latest. The next process sends deliveries without an outcome
  /// again, with the same `apns-id`.
  public func stop() async {
    let deadline = ContinuousClock.now + .seconds(configuration.stopTime)
    state.withLock { $0.stopDeadline = deadline }
    settlement.come()
    takerSignal.signal()
    recorderSignal.signal()
    let tasks = tasks.withLock { $0 }
    // Ends the delay after a failure. Calls of the store ignore the cancellation.
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
