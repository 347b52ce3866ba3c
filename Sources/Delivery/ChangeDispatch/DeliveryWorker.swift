import CloudKitModel
import PushDelivery
import StoreModel
import Synchronization

/// Carries deliveries from the store to the devices and their outcomes back.
///
/// A delivery is a row until it has an outcome. New ones are leased to the worker as they are logged
/// and come in memory; those of an earlier process, those to be tried again, and those for which there
/// was no room are taken from the store. Each route has room of its own, so that one that is slow or
/// does not work holds up no other.
public final class DeliveryWorker: Sendable {
  public struct Configuration: Sendable {
    /// Deliveries of one route that may be under way at once; the others wait in the store.
    public var capacity = 4_096
    /// Deliveries that are taken from the store at once.
    public var takingSize = 1_000
    /// Outcomes written in one transaction.
    public var updateBatchSize = 500
    /// How long a delivery that was taken is the worker's, in seconds: when the process dies others
    /// wait that long, on an engine for several servers.
    public var leaseTime = 60.0
    /// How long ``DeliveryWorker/stop()`` waits for outcomes, in seconds.
    public var stopTime = 5.0
    /// How long a route rests that works only after an operator has acted, in seconds.
    public var suspensionDelay = 60.0
    /// Seconds between two silent pushes to a device; 0 for no limit.
    public var silentPushInterval = 0.0
    /// Devices whose pace is remembered.
    public var pacedDevices = 100_000
    /// When more deliveries than these wait, silent ones for a device become one whatever their
    /// subscriptions.
    public var waitingLimit = 1_000_000
    /// When so many deliveries have no outcome, no more are written: their notifications are in the log
    /// alone.
    public var owedLimit = Int.max
    /// The same of one database for one user.
    public var owedLimitOfUser = Int.max
    /// Is told what each attempt led to; nil for nobody. It must not block.
    public var trace: (@Sendable (Delivery, DeliveryUpdate.State) -> Void)?
    /// Where the worker's tasks run; nil is Swift's own pool.
    public var executor: (any TaskExecutor)?

    public init() {}
  }

  /// How delivery is doing.
  public struct Metrics: Sendable, Hashable {
    public var delivered = 0
    /// Given up for another reason than the following.
    public var abandoned = 0
    /// Given up because their time was over.
    public var expired = 0
    /// Refused by a fault of ours, and kept aside.
    public var refused = 0
    /// Those in whose place a newer one went.
    public var merged = 0
    /// Attempts that are to be repeated.
    public var retried = 0
    /// Deliveries that were put off because of the pace of their device.
    public var postponed = 0
    public var underWay = 0
    /// Deliveries that wait in the store, about.
    public var waiting = 0
    /// Whether so many wait that silent ones are merged harder.
    public var isMergingHarder = false
    /// Routes that rest because they do not work.
    public var restingRoutes = 0
  }

  let store: any DeliveryQueue
  let configuration: Configuration
  let route: @Sendable (DeviceToken) -> PushRoute?
  let clock: @Sendable () -> Timestamp
  let random: @Sendable () -> Double
  let report: @Sendable (WorkReport) -> Void
  let state: Mutex<DeliveryWorkerState>
  /// Names the worker's leases: this server among those that share the store. Nil as long as it is
  /// none.
  let holder: @Sendable () -> Int64?
  let backlogs: UserBacklogs
  let takerSignal = WakeSignal()
  let recorderSignal = WakeSignal()
  let settlement = Settlement()
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// - Parameters:
  ///   - server: this server among those that share the store; nil when it has it alone.
  ///   - route: the way to a device; nil when its container is not set up for pushes to it.
  ///   - random: numbers in 0 ..< 1, for the random part of delays.
  ///   - report: takes a line for the server's log when an operator should know.
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

  /// How many of the deliveries that are about to be logged the worker can send at once. None before
  /// it has taken over what an earlier process left: that would be overtaken.
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

  /// Comes back as soon as no delivery is under way and none is due: each has been sent and its
  /// outcome is in the store. Deliveries that are to be tried again at a later time of the clock are
  /// not waited for. Comes back at once after ``stop()``, and not before ``start()``.
  public func settled() async {
    // Who tells that all is done may have looked a moment ago.
    repeat {
      await settlement.wait { state.withLock { $0.isSettled } }
    } while !state.withLock { $0.isSettled }
  }

  /// Takes over the deliveries of servers that are gone.
  public func takeOver() {
    state.withLock { $0.isToTakeOver = true }
    takerSignal.signal()
  }

  /// Looks again for deliveries that are due, as is needed after the clock was set forward.
  public func lookForDueDeliveries() {
    let now = clock()
    state.withLock { $0.lookAgain(at: now) }
    takerSignal.signal()
  }

  /// Takes no more deliveries, waits for the outcomes of those under way and writes them, and stops;
  /// after ``Configuration/stopTime`` at the latest. Deliveries without an outcome are sent again by
  /// the next process, with the same `apns-id`.
  public func stop() async {
    let deadline = ContinuousClock.now + .seconds(configuration.stopTime)
    state.withLock { $0.stopDeadline = deadline }
    settlement.come()
    takerSignal.signal()
    recorderSignal.signal()
    let tasks = tasks.withLock { $0 }
    // Ends the delay after a failure; the store's calls do not notice.
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
