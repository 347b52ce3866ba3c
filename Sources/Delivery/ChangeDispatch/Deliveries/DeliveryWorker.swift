import CloudKitModel
import Concurrency
import PushChannels
import StoreModel
import Synchronization

/// The worker that sends deliveries from the store to the devices and stores their outcomes.
///
/// A *delivery* is one push to one device: a row of the store until it has a final outcome. New
/// deliveries are leased to the worker when they are logged, and are passed to it in memory. The
/// worker takes others from the store: those of an earlier process, those to repeat, and those
/// beyond the capacity.
///
/// A *route* is a container with one kind of device, and for APNs one environment. Each route has a
/// capacity of its own, so a slow or broken route does not delay the others. If a route does not
/// work, the worker sends nothing on it for a while: the route *pauses*.
///
/// ```swift
/// let worker = DeliveryWorker(store: store, report: { log($0) }) { channels.route(to: $0) }
/// worker.start()
/// await worker.stop()
/// ```
///
/// Any thread may call the public methods. A lock protects the state.
public final class DeliveryWorker: Sendable {
  /// The limits and times of a worker.
  public struct Configuration: Sendable {
    /// The greatest number of deliveries of one route that are under way: being sent, or with an
    /// outcome that is not stored yet. The others wait in the store.
    public var capacity = 4_096
    /// The greatest number of deliveries that one call takes from the store.
    public var takingSize = 1_000
    /// The greatest number of outcomes in one transaction.
    public var updateBatchSize = 500
    /// The time in seconds for which a delivery is leased to the worker. If the process dies, other
    /// servers wait that long before they send the delivery.
    public var leaseTime = 60.0
    /// The time in seconds for which ``DeliveryWorker/stop()`` waits for outcomes.
    public var stopTime = 5.0
    /// The least time in seconds between two silent pushes to a device; 0 for no limit.
    public var silentPushInterval = 0.0
    /// The greatest number of devices whose next allowed push time is remembered. Other devices get
    /// their pushes without a delay.
    public var pacedDevices = 100_000
    /// The number of waiting deliveries above which all silent pushes to a device are merged, even
    /// those of different subscriptions.
    public var waitingLimit = 1_000_000
    /// The number of deliveries without a final outcome at which no more are written. New
    /// notifications are then only logged.
    public var owedLimit = Int.max
    /// The same limit for one user in one database.
    public var owedLimitOfUser = Int.max
    /// Receives each outcome of a delivery, also one without an attempt; `nil` for no closure. The
    /// closure must not block.
    public var trace: (@Sendable (Delivery, DeliveryUpdate.State) -> Void)?
    /// The executor of the worker's tasks; `nil` for Swift's global executor.
    public var executor: (any TaskExecutor)?

    /// Creates the default configuration.
    public init() {}
  }

  /// The counters since the worker was created, and its present state.
  public struct Metrics: Sendable, Hashable {
    /// The number of pushes that a service accepted.
    public var delivered = 0
    /// The number of deliveries that ended without an accepted push, for another reason than expiry
    /// or a fault.
    public var abandoned = 0
    /// The number of deliveries that expired.
    public var expired = 0
    /// The number of deliveries that were refused because of a fault in Petrel. The store keeps
    /// them for inspection.
    public var refused = 0
    /// The number of deliveries that a newer one replaced.
    public var merged = 0
    /// The number of attempts after which the delivery must be tried again.
    public var retried = 0
    /// The number of times that a delivery was put off without an attempt, by ``DevicePacing`` or
    /// because the capacity was used up.
    public var postponed = 0
    /// The number of deliveries that are being sent, or whose outcome is being stored.
    public var underWay = 0
    /// The approximate number of deliveries that wait in the store.
    public var waiting = 0
    /// Whether silent pushes of different subscriptions are merged, because too many deliveries
    /// wait (``Configuration/waitingLimit``).
    public var isMergingHarder = false
    /// The number of routes that are paused because they do not work.
    public var pausedRoutes = 0
  }

  let store: any DeliveryQueue
  let configuration: Configuration
  /// Returns the route to a device; `nil` if there is none.
  let route: @Sendable (DeviceToken) -> PushRoute?
  let clock: @Sendable () -> Timestamp
  /// The source of numbers in 0 ..< 1 for the random part of delays.
  let random: @Sendable () -> Double
  let report: @Sendable (WorkReport) -> Void
  let state: Mutex<DeliveryWorkerState>
  /// The holder of the worker's leases: this server's ID in a cluster, otherwise a random number.
  /// `nil` while the server is not registered in its cluster.
  let holder: @Sendable () -> Int64?
  /// The number of waiting deliveries of each user.
  let backlogs: UserBacklogs
  /// How the worker's tasks fare, in the list of background work.
  package let sending = BackgroundJob(
    "sending of pushes", of: "ChangeDispatch", "when a push is due")
  package let recording = BackgroundJob(
    "outcomes of pushes", of: "ChangeDispatch", "when a push service has answered")
  /// The signal that wakes the taker: the task that takes due deliveries from the store.
  let takerSignal = AsyncSignal()
  /// The signal that wakes the recorder: the task that writes outcomes to the store.
  let recorderSignal = AsyncSignal()
  /// The tasks that wait in ``settled()``.
  let settlement = AsyncCondition()
  /// The taker and the recorder; empty before ``start()``.
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// Creates a worker. It does nothing before ``start()``.
  ///
  /// - Parameters:
  ///   - server: Returns the ID of this server in a cluster; `nil` if it uses the store alone.
  ///   - clock: The clock for due times and expiry.
  ///   - random: Returns numbers in 0 ..< 1 for the random part of delays.
  ///   - report: Receives the lines for the server's log.
  ///   - route: Returns the route to a device; `nil` if its container is not set up for pushes to
  ///     it.
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

  /// The counters and the state of the worker.
  public var metrics: Metrics { state.withLock { $0.currentMetrics } }

  /// The durations of the steps of pushes.
  public var times: DeliveryTimes { state.withLock { $0.times } }

  /// Starts the worker's tasks. A second call does nothing.
  public func start() {
    tasks.withLock { tasks in
      guard tasks.isEmpty else { return }
      tasks = [
        Task(executorPreference: configuration.executor) { await self.take() },
        Task(executorPreference: configuration.executor) { await self.record() },
      ]
    }
  }

  /// Returns limits for the deliveries of the next dispatch transaction: the number that the worker
  /// can send at once on each route, and the number that may be written.
  ///
  /// The worker can send none before it has taken over the deliveries of an earlier process. New
  /// deliveries would otherwise be sent before older ones. The worker can also send none after
  /// ``stop()``, and while the server is not registered in its cluster.
  public func capacity() -> DeliveryCapacity {
    let holder = holder()
    return state.withLock { state in
      let isReady = state.isPrepared && !state.isStopped && holder != nil
      return DeliveryCapacity(
        lease: lease(of: holder ?? 0),
        capacities: state.schedules.mapValues { isReady ? $0.free : 0 },
        otherCapacity: isReady ? configuration.capacity : 0,
        unwritten: max(0, configuration.owedLimit - max(0, state.owed ?? 0)), backlogs: backlogs,
        isSetUp: { [route] in route($0) != nil },
        isRefused: { [route] in route($0)?.refusesDevice ?? false })
    }
  }

  /// Whether the worker has taken over the deliveries of an earlier process, and has counted them.
  var isPrepared: Bool { state.withLock { $0.isPrepared } }

  /// Returns a lease of `holder` from now on, for ``Configuration/leaseTime`` seconds.
  func lease(of holder: Int64) -> DeliveryLease {
    DeliveryLease(
      holder: holder, until: clock().advanced(bySeconds: configuration.leaseTime))
  }

  /// Returns when no delivery is under way or due, and all outcomes are in the store.
  ///
  /// The method does not wait for deliveries that are due later, or whose route is paused. After
  /// ``stop()`` the method returns at once. Before ``start()`` it does not return.
  public func settled() async {
    // The state may have changed between the signal and this check.
    repeat {
      await settlement.wait { state.withLock { $0.isSettled } }
    } while !state.withLock { $0.isSettled }
  }

  /// Makes the worker take over the deliveries of servers that are gone.
  public func takeOver() {
    state.withLock { $0.isToTakeOver = true }
    takerSignal.signal()
  }

  /// Makes the worker ask the store again for due deliveries. Call the method after the clock was
  /// set forward.
  public func lookForDueDeliveries() {
    let now = clock()
    state.withLock { $0.lookAgain(at: now) }
    takerSignal.signal()
  }

  /// Stops the worker. The worker takes no more deliveries, and writes the outcomes of those under
  /// way.
  ///
  /// The method waits for outcomes for at most ``Configuration/stopTime``, and for running calls of
  /// the store. The next process sends deliveries without an outcome again, with the same
  /// `apns-id`.
  public func stop() async {
    let deadline = ContinuousClock.now + .seconds(configuration.stopTime)
    state.withLock { $0.stopDeadline = deadline }
    settlement.becomeTrue()
    takerSignal.signal()
    recorderSignal.signal()
    let tasks = tasks.withLock { $0 }
    // The cancellation ends the delay after a failed write. Calls of the store ignore the
    // cancellation.
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
