import CloudKitModel
import StoreModel

/// The state of a ``DeliveryWorker``, as a value. The worker guards it with a lock.
struct DeliveryWorkerState {
  /// A delivery with an outcome that is not yet in the store.
  struct Outcome {
    /// The delivery.
    var delivery: Delivery
    /// The outcome.
    var update: DeliveryUpdate
    /// Whether the delivery was abandoned because it expired.
    var hasExpired = false
  }

  /// The schedule of each route in use.
  var schedules: [DeliveryRoute.ID: DeliverySchedule] = [:]
  /// The pace of the devices.
  var pacing: DevicePacing
  /// The outcomes to write, the oldest first.
  private(set) var outcomes: [Outcome] = []
  /// The number of outcomes after which the delivery still waits.
  private var putOffCount = 0
  /// The counters. ``currentMetrics`` also has the present state.
  var metrics = DeliveryWorker.Metrics()
  /// The durations of the steps of pushes.
  var times = DeliveryTimes()
  /// The approximate number of deliveries without a final outcome; `nil` until the store was asked.
  private(set) var owed: Int?
  /// The number of deliveries added, less those removed, since the store was asked for the number;
  /// `nil` if no answer is awaited.
  private var owedMeanwhile: Int?
  /// Whether deliveries were under way or changed while the store counted. The store's answer may
  /// include some that are also counted here.
  private var isCountDoubtful = false
  /// The number of recounts since no delivery was waiting.
  private var recounts = 0
  /// The time at which the wait for outcomes ends, by a monotonic clock; `nil` while the worker
  /// runs.
  var stopDeadline: ContinuousClock.Instant?
  /// Whether servers may be gone that left deliveries.
  var isToTakeOver = true
  /// The greatest number of deliveries of one route that are under way.
  private let capacity: Int
  /// The number of waiting deliveries above which silent ones are merged harder.
  private let waitingLimit: Int

  /// Creates the state of a worker that was not started.
  init(_ configuration: DeliveryWorker.Configuration) {
    capacity = configuration.capacity
    waitingLimit = configuration.waitingLimit
    pacing = DevicePacing(
      silentInterval: configuration.silentPushInterval, capacity: configuration.pacedDevices)
  }

  /// Whether the worker has taken over the deliveries of an earlier process.
  var isPrepared: Bool { owed != nil }

  /// Whether the worker was stopped.
  var isStopped: Bool { stopDeadline != nil }

  /// Whether no delivery is under way or due, and all outcomes are stored; also true after a stop.
  var isSettled: Bool {
    isStopped || (isPrepared && outcomes.isEmpty && schedules.values.allSatisfy(\.isSettled))
  }

  /// The number of deliveries under way on all routes.
  var underWayCount: Int { schedules.values.reduce(0) { $0 + $1.underWay.count } }

  /// The approximate number of deliveries that wait in the store.
  var waitingCount: Int { max(0, (owed ?? 0) - underWayCount) }

  /// The counters with the present state.
  var currentMetrics: DeliveryWorker.Metrics {
    var metrics = metrics
    metrics.underWay = underWayCount
    metrics.waiting = waitingCount
    metrics.restingRoutes = schedules.values.count(where: \.isResting)
    return metrics
  }

  /// Calls `body` with the schedule of a route. A new schedule begins behind, because the store may
  /// have deliveries.
  mutating func withSchedule<Value>(
    of route: DeliveryRoute.ID, _ body: (inout DeliverySchedule) -> Value
  ) -> Value {
    let unused = DeliverySchedule(capacity: capacity)
    return body(&schedules[route, default: unused])
  }

  /// Makes all routes look again for due deliveries.
  mutating func lookAgain(at now: Timestamp) {
    for route in schedules.keys { schedules[route]?.lookAgain(at: now) }
  }

  // MARK: Backlog

  /// Begins a count: the store is being asked for the number of deliveries without an outcome.
  mutating func beginCounting() {
    owedMeanwhile = 0
    isCountDoubtful = underWayCount > 0
  }

  /// Sets the number of deliveries without an outcome, as the store answered.
  mutating func count(_ owed: Int) {
    self.owed = max(0, owed + (owedMeanwhile ?? 0))
    owedMeanwhile = nil
  }

  /// Returns the seconds until the store should be asked again for the number of deliveries; `nil`
  /// if it need not be. Call it when nothing is under way.
  ///
  /// A commit during the question may be in the store's answer and then be counted again when the
  /// worker learns of it. In a cluster, the waiting deliveries may belong to other servers. The
  /// pauses therefore double, from 1 to 60 seconds.
  mutating func recountPause() -> Double? {
    guard waitingCount > 0 || isCountDoubtful else {
      recounts = 0
      return nil
    }
    recounts += 1
    return min(60, Double(1 << min(recounts - 1, 6)))
  }

  /// Adds to the number of deliveries without an outcome, or subtracts from it.
  mutating func addOwed(_ count: Int) {
    owed? += count
    guard count != 0, owedMeanwhile != nil else { return }
    owedMeanwhile? += count
    isCountDoubtful = true
  }

  /// Returns true if the backlog has just exceeded its limit, false if it has just fallen to half
  /// of it, and `nil` otherwise.
  mutating func backlogTransition() -> Bool? {
    let waiting = waitingCount
    if !metrics.isMergingHarder, waiting > waitingLimit {
      metrics.isMergingHarder = true
      return true
    }
    if metrics.isMergingHarder, waiting <= waitingLimit / 2 {
      metrics.isMergingHarder = false
      return false
    }
    return nil
  }

  // MARK: Outcomes

  /// Whether the store may have waiting deliveries, now or after the outcomes are written.
  ///
  /// Before the first count, deliveries of an earlier process may be waiting. A doubtful count may
  /// be too low.
  var hasWaiting: Bool {
    owed == nil || isCountDoubtful || waitingCount > 0 || putOffCount > 0
  }

  /// Adds an outcome, and returns the state to write.
  ///
  /// If the delivery would wait and a newer one under way can replace it, it is merged into the
  /// newer one. The decision is made here: the newer one could otherwise end first, and this one
  /// would be sent after it.
  mutating func add(_ outcome: Outcome) -> DeliveryUpdate.State {
    var outcome = outcome
    if outcome.update.state.isPutOff {
      let delivery = outcome.delivery
      if let newer = withSchedule(of: delivery.route, { $0.newer(than: delivery) }) {
        outcome.update.state = .merged(into: newer)
      } else {
        putOffCount += 1
      }
    }
    outcomes.append(outcome)
    return outcome.update.state
  }

  /// Removes outcomes that are now in the store.
  ///
  /// - Parameter mergedBeside: The number of other deliveries that the store merged.
  /// - Returns: Deliveries that were taken again meanwhile and must be sent.
  mutating func settle(_ outcomes: ArraySlice<Outcome>, mergedBeside: Int) -> [Delivery] {
    self.outcomes.removeFirst(outcomes.count)
    metrics.merged += mergedBeside
    addOwed(-mergedBeside)
    return outcomes.compactMap { settle($0) }
  }

  /// Applies an outcome to the schedule and the counters.
  private mutating func settle(_ outcome: Outcome) -> Delivery? {
    let delivery = outcome.delivery
    if outcome.update.state.isPutOff { putOffCount -= 1 }
    let again = withSchedule(of: delivery.route) { schedule in
      let again = schedule.finish(delivery)
      switch outcome.update.state {
      case .retry(let due, _, _), .postponed(let due, _): schedule.wait(until: due)
      case .delivered, .abandoned, .merged, .refused: break
      }
      return again
    }
    switch outcome.update.state {
    case .delivered: metrics.delivered += 1
    case .abandoned where outcome.hasExpired: metrics.expired += 1
    case .abandoned: metrics.abandoned += 1
    case .merged: metrics.merged += 1
    case .refused: metrics.refused += 1
    case .retry: metrics.retried += 1
    case .postponed: metrics.postponed += 1
    }
    switch outcome.update.state {
    case .retry, .postponed: break
    case .delivered, .abandoned, .merged, .refused: addOwed(-1)
    }
    return again
  }
}
