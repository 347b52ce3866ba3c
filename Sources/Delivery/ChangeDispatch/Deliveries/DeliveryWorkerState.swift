import CloudKitModel
import StoreModel

/// The state of a ``DeliveryWorker``, as a value. The worker guards it with a lock.
struct DeliveryWorkerState {
  /// A delivery with an outcome that is not yet in the store.
  struct Outcome {
    var delivery: Delivery
    var update: DeliveryUpdate
    var hasExpired = false
  }

  var schedules: [DeliveryRoute.ID: DeliverySchedule] = [:]
  var pacing: DevicePacing
  /// The outcomes to write, the oldest first.
  private(set) var outcomes: [Outcome] = []
  /// The number of elements of ``outcomes`` after which the delivery waits for another attempt.
  private var putOffCount = 0
  /// The counters. ``currentMetrics`` adds the present state.
  var metrics = DeliveryWorker.Metrics()
  var times = DeliveryTimes()
  /// The approximate number of deliveries without a final outcome; `nil` until the store has
  /// answered for the first time.
  private(set) var owed: Int?
  /// The change of ``owed`` since the store was asked for the number; `nil` if no answer is
  /// awaited.
  private var owedMeanwhile: Int?
  /// Whether deliveries were under way, added or removed while the store counted. The count may
  /// then include a delivery twice, or not at all.
  private var isCountDoubtful = false
  /// The number of consecutive recounts. It becomes 0 when no delivery waits and the count is
  /// certain.
  private var recounts = 0
  /// The time at which the wait for outcomes ends, by a monotonic clock; `nil` while the worker
  /// runs.
  var stopDeadline: ContinuousClock.Instant?
  /// Whether the taker must take over deliveries of earlier processes, or of servers that are gone.
  var isToTakeOver = true
  /// The greatest number of deliveries of one route that are under way.
  private let capacity: Int
  /// The number of waiting deliveries above which silent pushes of different subscriptions are
  /// merged.
  private let waitingLimit: Int

  init(_ configuration: DeliveryWorker.Configuration) {
    capacity = configuration.capacity
    waitingLimit = configuration.waitingLimit
    pacing = DevicePacing(
      silentInterval: configuration.silentPushInterval, capacity: configuration.pacedDevices)
  }

  /// Whether the worker has taken over the deliveries of an earlier process, and has counted them.
  var isPrepared: Bool { owed != nil }

  var isStopped: Bool { stopDeadline != nil }

  /// Whether no delivery is under way or due, and all outcomes are in the store. The value is also
  /// true after a stop.
  var isSettled: Bool {
    isStopped || (isPrepared && outcomes.isEmpty && schedules.values.allSatisfy(\.isSettled))
  }

  var underWayCount: Int { schedules.values.reduce(0) { $0 + $1.underWay.count } }

  var waitingCount: Int { max(0, (owed ?? 0) - underWayCount) }

  var currentMetrics: DeliveryWorker.Metrics {
    var metrics = metrics
    metrics.underWay = underWayCount
    metrics.waiting = waitingCount
    metrics.pausedRoutes = schedules.values.count(where: \.isPaused)
    return metrics
  }

  /// Calls `body` with the schedule of a route. A new schedule begins with
  /// ``DeliverySchedule/isBehind``, because the store may have deliveries.
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

  /// Begins a count: the caller then asks the store for the number of deliveries without a final
  /// outcome.
  mutating func beginCounting() {
    owedMeanwhile = 0
    isCountDoubtful = underWayCount > 0
  }

  /// Sets ``owed`` to the store's answer, plus the changes since the question.
  mutating func count(_ owed: Int) {
    self.owed = max(0, owed + (owedMeanwhile ?? 0))
    owedMeanwhile = nil
  }

  /// Returns the seconds until the store should be asked again for the number of deliveries; `nil`
  /// if it need not be. Call it when nothing is under way.
  ///
  /// Recounts are needed for two reasons. The store's answer may include a commit that the worker
  /// counts again later. In a cluster, the waiting deliveries may belong to other servers. Each
  /// pause is twice as long as the one before, from 1 to 60 seconds.
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

  /// Compares the number of waiting deliveries with its limit, and updates
  /// ``DeliveryWorker/Metrics/isMergingHarder``. Returns `true` if the number has just exceeded the
  /// limit, `false` if it has just fallen to half of the limit, and `nil` otherwise.
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

  /// Adds an outcome to those to write, and returns its state.
  ///
  /// If the delivery would wait for another attempt, and a newer delivery under way can replace it,
  /// the state becomes `merged`. The decision is made here: if the newer delivery ended first, the
  /// older one would otherwise be sent after it.
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

  /// Removes outcomes that are now in the store, and applies them to the schedules and the
  /// counters.
  ///
  /// - Parameter mergedBeside: The number of other deliveries that the store merged into the
  ///   delivered ones.
  /// - Returns: Deliveries that were taken from the store again meanwhile. The caller must send
  ///   them.
  mutating func settle(_ outcomes: ArraySlice<Outcome>, mergedBeside: Int) -> [Delivery] {
    self.outcomes.removeFirst(outcomes.count)
    metrics.merged += mergedBeside
    addOwed(-mergedBeside)
    return outcomes.compactMap { settle($0) }
  }

  /// Applies an outcome to the schedule and the counters. Returns the delivery if it must be sent
  /// again.
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
