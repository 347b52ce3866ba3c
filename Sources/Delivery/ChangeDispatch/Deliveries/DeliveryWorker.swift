import CloudKitModel
import PushChannels
import StoreModel
import Synchronization

/// The worker that sends deliveries from the store to the devices and stores their outcomes.
///
/// A delivery is a row of the store until it has an outcome. New deliveries are leased to the
/// worker when they are logged, and come in memory. The worker takes others from the store: those
/// of an earlier process, those to repeat, and those beyond the capacity. Each route has a capacity
/// of its own, so a slow or broken route delays no other.
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
    /// The greatest number of deliveries of one route that are under way. The others wait in the
    /// store.
    public var capacity = 4_096
    /// The greatest number of deliveries that are taken from the store at once.
    public var takingSize = 1_000
    /// The greatest number of outcomes in one transaction.
    public var updateBatchSize = 500
    /// The seconds for which a delivery is leased to the worker. If the process dies, other servers
    /// of the store wait that long.
    public var leaseTime = 60.0
    /// The seconds for which ``DeliveryWorker/stop()`` waits for outcomes.
    public var stopTime = 5.0
    /// The seconds for which a route rests if an administrator must repair it.
    public var suspensionDelay = 60.0
    /// The seconds between two silent pushes to a device; 0 for no limit.
    public var silentPushInterval = 0.0
    /// The greatest number of devices whose pace is remembered. Other devices get their pushes
    /// without pacing.
    public var pacedDevices = 100_000
    /// The number of waiting deliveries above which all silent ones of a device are merged,
    /// whatever their subscriptions.
    public var waitingLimit = 1_000_000
    /// The number of deliveries without an outcome at which no more are written. The notifications
    /// are then only logged.
    public var owedLimit = Int.max
    /// The same limit for one user in one database.
    public var owedLimitOfUser = Int.max
    /// The closure that receives the result of each attempt; `nil` for none. It must not block.
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
    /// The number of deliveries that were abandoned for another reason than expiry or a fault.
    public var abandoned = 0
    /// The number of deliveries that expired.
    public var expired = 0
    /// The number of deliveries that were refused because of a fault in Petrel. The store keeps
    /// them for inspection.
    public var refused = 0
    /// The number of deliveries that a newer one replaced.
    public var merged = 0
    /// The number of attempts that are to be repeated.
    public var retried = 0
    /// The number of postponements: the device's pace or the capacity did not permit the push.
    public var postponed = 0
    /// The number of deliveries that are being sent, or whose outcome is being stored.
    public var underWay = 0
    /// The approximate number of deliveries that wait in the store.
    public var waiting = 0
    /// Whether so many deliveries wait that silent ones are merged whatever their subscriptions.
    public var isMergingHarder = false
    /// The number of routes that rest because they do not work.
    public var restingRoutes = 0
  }

  /// The queue of deliveries in the store.
  let store: any DeliveryQueue
  /// The limits and times.
  let configuration: Configuration
  /// Returns the route to a device; `nil` if there is none.
  let route: @Sendable (DeviceToken) -> PushRoute?
  /// The clock for due times and expiry.
  let clock: @Sendable () -> Timestamp
  /// The source of numbers in 0 ..< 1 for the random part of delays.
  let random: @Sendable () -> Double
  /// Receives the lines for the server's log.
  let report: @Sendable (WorkReport) -> Void
  /// The state, under a lock.
  let state: Mutex<DeliveryWorkerState>
  /// The holder of the worker's leases: this server's ID in a cluster, otherwise a random number.
  /// `nil` while the server is not registered in its cluster.
  let holder: @Sendable () -> Int64?
  /// The numbers of waiting deliveries of each user.
  let backlogs: UserBacklogs
  /// The signal that wakes the taker.
  let takerSignal = WakeSignal()
  /// The signal that wakes the recorder.
  let recorderSignal = WakeSignal()
  /// The tasks that wait in ``settled()``.
  let settlement = Settlement()
  /// The taker and the recorder; empty before ``start()``.
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// Creates a worker. It does nothing before ``start()``.
  ///
  /// - Parameters:
  ///   - server: Returns the ID of this server in a cluster; `nil` if it uses the store alone.
  ///   - clock: The clock for due times and expiry.
  ///   - random: Returns numbers in 0 ..< 1 for the random part of delays.
  ///   - report: Receives a line for the server's log that concerns the administrator.
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

  /// Returns the number of deliveries that the worker can send at once, for deliveries about to be
  /// logged.
  ///
  /// It is 0 before the worker has taken over the deliveries of an earlier process. New deliveries
  /// would otherwise overtake them.
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

  /// Whether the worker has taken over the deliveries of an earlier process.
  var isPrepared: Bool { state.withLock { $0.isPrepared } }

  /// Returns a lease from now on.
  func lease(of holder: Int64) -> DeliveryLease {
    DeliveryLease(
      holder: holder, until: clock().advanced(bySeconds: configuration.leaseTime))
  }

  /// Returns when no delivery is under way or due: each was sent, and its outcome is in the store.
  ///
  /// The method does not wait for deliveries that are to be repeated later. After ``stop()`` it
  /// returns at once; before ``start()`` it does not return.
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

  /// Makes the worker look again for due deliveries. Call it after the clock was set forward.
  public func lookForDueDeliveries() {
    let now = clock()
    state.withLock { $0.lookAgain(at: now) }
    takerSignal.signal()
  }

  /// Stops the worker. It takes no more deliveries and writes the outcomes of those under way.
  ///
  /// The method returns after ``Configuration/stopTime`` at the latest. The next process sends
  /// deliveries without an outcome again, with the same `apns-id`.
  public func stop() async {
    let deadline = ContinuousClock.now + .seconds(configuration.stopTime)
    state.withLock { $0.stopDeadline = deadline }
    settlement.come()
    takerSignal.signal()
    recorderSignal.signal()
    let tasks = tasks.withLock { $0 }
    // The cancellation ends the delay after a failure. Calls of the store ignore it.
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
