import CloudKitModel
import StoreModel

/// The state of a ``DeliveryWorker``, as a value.
struct DeliveryWorkerState {
  /// A delivery with an outcome that is not yet in the store.
  struct Outcome {
    var delivery: Delivery
    var update: DeliveryUpdate
    var hasExpired = false
  }

  var schedules: [DeliveryRoute.ID: DeliverySchedule] = [:]
  var pacing: DevicePacing
  private(set) var outcomes: [Outcome] = []
  /// The number of outcomes after which the delivery still waits.
  private var putOffCount = 0
  var metrics = DeliveryWorker.Metrics()
  var times = DeliveryTimes()
  /// The approximate number of deliveries without a final outcome; nil until the store was asked.
  private(set) var owed: Int?
  /// The deliveries added and removed while the store is asked; nil at other times.
  private var owedMeanwhile: Int?
  /// Whether deliveries were under way when the store was last asked: its answer may include those
  /// that are also added and removed here.
  private var isCountDoubtful = false
  /// How often the store was asked again since no delivery was waiting.
  private var recounts = 0
  /// When waiting for outcomes ends, by a monotonic clock; nil while the worker runs.
  var stopDeadline: ContinuousClock.Instant?
  /// Whether servers are gone that may have left deliveries.
  var isToTakeOver = true
  private let capacity: Int
  private let waitingLimit: Int

  init(_ configuration: DeliveryWorker.Configuration) {
    capacity = configuration.capacity
    waitingLimit = configuration.waitingLimit
    pacing = DevicePacing(
      silentInterval: configuration.silentPushInterval, capacity: configuration.pacedDevices)
  }

  /// Whether it has taken over an earlier process's deliveries.
  var isPrepared: Bool { owed != nil }

  var isStopped: Bool { stopDeadline != nil }

  var isSettled: Bool {
    isStopped || (isPrepared && outcomes.isEmpty && schedules.values.allSatisfy(\.isSettled))
  }

  var underWayCount: Int { schedules.values.reduce(0) { $0 + $1.underWay.count } }

  var waitingCount: Int { max(0, (owed ?? 0) - underWayCount) }

  var currentMetrics: DeliveryWorker.Metrics {
    var metrics = metrics
    metrics.underWay = underWayCount
    metrics.waiting = waitingCount
    metrics.restingRoutes = schedules.values.count(where: \.isResting)
    return metrics
  }

  /// Changes a route's schedule. A new schedule begins behind, since the store may have deliveries.
  mutating func withSchedule<Value>(
    of route: DeliveryRoute.ID, _ body: (inout DeliverySchedule) -> Value
  ) -> Value {
    let unused = DeliverySchedule(capacity: capacity)
    return body(&schedules[route, default: unused])
  }

  mutating func lookAgain(at now: Timestamp) {
    for route in schedules.keys { schedules[route]?.lookAgain(at: now) }
  }

  // MARK: Backlog

  /// The store is being asked for the number of deliveries without an outcome.
  mutating func beginCounting() {
    owedMeanwhile = 0
    isCountDoubtful = underWayCount > 0
  }

  mutating func count(_ owed: Int) {
    self.owed = max(0, owed + (owedMeanwhile ?? 0))
    owedMeanwhile = nil
  }

  /// Seconds until the store should be asked again for the number of deliveries; nil if it need not
  /// be. For times when nothing is under way.
  ///
  /// A commit during the question may be in the store's answer, and then be counted again when the
  /// worker learns of it. In a cluster, the waiting deliveries may be other servers', so the pauses
  /// grow.
  mutating func recountPause() -> Double? {
    guard waitingCount > 0 || isCountDoubtful else {
      recounts = 0
      return nil
    }
    recounts += 1
    return min(60, Double(1 << min(recounts - 1, 6)))
  }

  mutating func addOwed(_ count: Int) {
    owed? += count
    guard count != 0, owedMeanwhile != nil else { return }
    owedMeanwhile? += count
    isCountDoubtful = true
  }

  /// Whether the backlog has just exceeded its limit, or has fallen well below it again; nil if
  /// neither.
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

  /// Whether the store may have waiting deliveries, now or after the outcomes are written. Before
  /// the first count, an earlier process's deliveries may be waiting, and a doubtful count may be
  /// too low.
  var hasWaiting: Bool {
    owed == nil || isCountDoubtful || waitingCount > 0 || putOffCount > 0
  }

  /// Adds an outcome, and returns the state to be written.
  ///
  /// A delivery that would wait is merged into a newer one under way that can replace it. The
  /// decision is made here, because the newer one could otherwise end first, and this one would be
  /// sent after it.
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

  /// Removes outcomes that are now in the store, where other deliveries were merged too.
  ///
  /// - Returns: deliveries that are due again and must be sent.
  mutating func settle(_ outcomes: ArraySlice<Outcome>, mergedBeside: Int) -> [Delivery] {
    self.outcomes.removeFirst(outcomes.count)
    metrics.merged += mergedBeside
    addOwed(-mergedBeside)
    return outcomes.compactMap { settle($0) }
  }

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
