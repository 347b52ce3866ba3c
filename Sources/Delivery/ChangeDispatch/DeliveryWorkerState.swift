import CloudKitModel
import StoreModel

/// What a ``DeliveryWorker`` keeps in mind, as a value.
struct DeliveryWorkerState {
  /// A delivery with its outcome, which is not in the store yet.
  struct Outcome {
    var delivery: Delivery
    var update: DeliveryUpdate
    var hasExpired = false
  }

  var schedules: [DeliveryRoute.ID: DeliverySchedule] = [:]
  var pacing: DevicePacing
  private(set) var outcomes: [Outcome] = []
  /// How many of the outcomes leave their delivery waiting.
  private var putOffCount = 0
  var metrics = DeliveryWorker.Metrics()
  var times = DeliveryTimes()
  /// Deliveries without a final outcome, about; nil until the store was asked.
  private(set) var owed: Int?
  /// What was added and taken away while the store is asked; nil when it is not.
  private var owedMeanwhile: Int?
  /// Whether anything was under way while the store is, or was last, asked: its answer may hold what is
  /// added and taken away here as well.
  private var isCountDoubtful = false
  /// How often the store was asked again since nothing was owed.
  private var recounts = 0
  /// When waiting for outcomes ends; nil while the worker runs. By a clock that nobody sets.
  var stopDeadline: ContinuousClock.Instant?
  /// Whether others are gone that may have left deliveries.
  var isToTakeOver = true
  private let capacity: Int
  private let waitingLimit: Int

  init(_ configuration: DeliveryWorker.Configuration) {
    capacity = configuration.capacity
    waitingLimit = configuration.waitingLimit
    pacing = DevicePacing(
      silentInterval: configuration.silentPushInterval, capacity: configuration.pacedDevices)
  }

  /// Whether it has taken over what an earlier process left.
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

  /// Changes a route's schedule; one that was not in use begins behind, for what the store may hold.
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

  /// The store has been asked how many deliveries are owed.
  mutating func beginCounting() {
    owedMeanwhile = 0
    isCountDoubtful = underWayCount > 0
  }

  mutating func count(_ owed: Int) {
    self.owed = max(0, owed + (owedMeanwhile ?? 0))
    owedMeanwhile = nil
  }

  /// When to ask again how many are owed, in seconds; nil when there is no need to. It is for when nothing
  /// is under way.
  ///
  /// What is committed while the store is asked may be in its answer, and be added, or taken away, once
  /// more when the worker hears of it. Beside other servers it may be theirs, so the pauses grow.
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

  /// Whether the backlog has just come over its limit, or is well below it again; nil when nothing has
  /// changed.
  mutating func backlogNews() -> Bool? {
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

  /// Whether the store may have deliveries that wait, or will have when the outcomes are in it. Before
  /// the first count those of an earlier process may be there, and a doubtful one may be too small.
  var hasWaiting: Bool {
    owed == nil || isCountDoubtful || waitingCount > 0 || putOffCount > 0
  }

  /// Takes in an outcome, and answers what will be written of it.
  ///
  /// What would wait is merged into a newer one that is under way and says all that it says. If this
  /// were decided before, the newer one could end in between, and this one would be sent after it.
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

  /// The outcomes are in the store, where deliveries beside them were merged too.
  ///
  /// - Returns: deliveries to send: their time has come again already.
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
