import CloudKitModel
import StoreModel

/// The state machine of the deliveries of one route. It decides which deliveries to send now, and
/// when to ask the store for more. A *route* is a container with one kind of device, and for APNs
/// one environment.
///
/// The schedule is a value; callers pass the time. If a route does not work, nothing is sent for a
/// while: the route *pauses*. Then one delivery *probes* the route. If it succeeds, the others are
/// sent.
///
/// A delivery is *under way* from its addition to the schedule until its outcome is in the store.
struct DeliverySchedule {
  /// The condition of the route.
  private enum Condition: Equatable {
    case open
    case paused(until: Timestamp)
    /// One delivery is under way to probe the route, or will be taken from the store for it.
    case probing
  }

  /// The time at which the next delivery that waits in the store is due.
  private enum NextDue {
    /// The store must be asked. The time, if any, is the earliest at which a delivery is due that
    /// was put off meanwhile.
    case unknown(Timestamp?)
    /// The known time; `nil` if no delivery waits.
    case known(Timestamp?)
  }

  /// The identity of a group of deliveries. Only the newest delivery of a group must be sent.
  private struct MergeName: Hashable {
    var token: String
    var database: DatabaseID
    var key: DeliveryMergeKey

    /// Creates the identity of a delivery's group; `nil` if the delivery belongs to no group and is
    /// always sent.
    init?(_ delivery: Delivery) {
      guard let key = delivery.mergeKey else { return nil }
      self.key = key
      token = delivery.device.token
      database = delivery.id.database
    }
  }

  /// The reason why a route pauses.
  enum PauseCause: Hashable {
    /// The service refused all pushes.
    case refusal
    /// The service did not answer.
    case silence
  }

  /// The newest delivery that is under way in a group.
  private struct Newest {
    var number: Int64
    /// The number of deliveries of the group that are under way.
    var count: Int
  }

  let capacity: Int
  /// The deliveries that were added to the schedule and whose outcome is not yet in the store.
  private(set) var underWay: Set<Delivery.ID> = []
  /// Deliveries under way that were taken from the store a second time. The store already has the
  /// outcome of the first attempt, but ``finish(_:)`` was not yet called.
  private var takenAgain: [Delivery.ID: Delivery] = [:]
  /// Whether the store may have due deliveries that the schedule should take.
  private(set) var isBehind = true
  /// The number of consecutive pauses by cause. The causes are counted separately, so that silences
  /// do not lengthen the delays after refusals. After a long silence, the service may work at once.
  private var pauses: [PauseCause: Int] = [:]
  private var condition = Condition.open
  /// The time of the last call of ``endPause(at:)``.
  private var latest = Timestamp(milliseconds: .min)
  private var nextDue = NextDue.unknown(nil)
  private var newest: [MergeName: Newest] = [:]
  /// The deliveries that finished since the store was asked for deliveries; `nil` if no answer is
  /// awaited. The store's answer may still contain them, if their lease had ended.
  private var finishedMeanwhile: Set<Delivery.ID>?
  /// The number of consecutive attempts that were sent and got no answer.
  private var unanswered = 0
  /// The number of consecutive attempts that were not sent.
  private var unsent = 0

  /// The number of consecutive attempts without an answer after which the route counts as broken.
  static let greatestUnanswered = 16
  /// The number of consecutive attempts without a connection after which the route counts as
  /// broken.
  static let greatestUnsent = 3

  /// Creates a schedule without deliveries. ``isBehind`` is true, because the store may have some.
  init(capacity: Int) {
    self.capacity = capacity
  }

  // MARK: Adding deliveries

  /// The number of new deliveries that may be sent without waiting in the store.
  ///
  /// The number is 0 while older deliveries wait in the store, or while the store's answer is
  /// awaited. New deliveries would otherwise be sent before older ones.
  var free: Int {
    let isUpToDate = !isBehind && finishedMeanwhile == nil
    return condition == .open && isUpToDate ? max(0, capacity - underWay.count) : 0
  }

  /// Adds deliveries that were just logged and leased.
  ///
  /// - Returns: The deliveries to send now (`admitted`), and those beyond the capacity (`refused`).
  ///   The refused ones are under way until the store has recorded that they wait. Deliveries that
  ///   are under way already are in neither list.
  mutating func admit(_ deliveries: [Delivery]) -> (admitted: [Delivery], refused: [Delivery]) {
    var free = condition == .open ? max(0, capacity - underWay.count) : 0
    var admitted: [Delivery] = []
    var refused: [Delivery] = []
    for delivery in deliveries where begin(delivery) {
      if free == 0 {
        refused.append(delivery)
      } else {
        admitted.append(delivery)
        free -= 1
      }
    }
    return (admitted, refused)
  }

  /// Returns the number of deliveries to take from the store now; `nil` for none.
  ///
  /// After a number, the caller must call `admit(_:)` with the taken deliveries, or
  /// ``failTaking()``.
  mutating func beginTaking(at now: Timestamp) -> Int? {
    guard let limit = takeLimit(at: now) else { return nil }
    isBehind = false
    nextDue = .unknown(nil)
    finishedMeanwhile = []
    return limit
  }

  /// Returns the number of deliveries to take. An open route takes more only when at most half of
  /// its capacity is in use. A probing route takes a single delivery.
  private mutating func takeLimit(at now: Timestamp) -> Int? {
    guard finishedMeanwhile == nil else { return nil }
    endPause(at: now)
    if case .known(let due?) = nextDue, due <= now { isBehind = true }
    guard isBehind else { return nil }
    switch condition {
    case .open: return underWay.count <= capacity / 2 ? capacity - underWay.count : nil
    case .probing: return underWay.isEmpty ? 1 : nil
    case .paused: return nil
    }
  }

  /// Adds the deliveries that were taken from the store, and returns those to send now.
  ///
  /// The result omits deliveries that are under way. If one of them had waited in the store,
  /// ``finish(_:)`` returns it later. The result also omits a delivery whose lease had ended and
  /// that finished meanwhile. A probing route opens if the store has no due delivery for it.
  mutating func admit(_ taken: TakenDeliveries) -> [Delivery] {
    let finished = finishedMeanwhile ?? []
    finishedMeanwhile = nil
    if !taken.isAll { isBehind = true }
    let admitted = taken.deliveries.filter { delivery in
      let id = delivery.id
      if taken.renewed.contains(id) { return !finished.contains(id) && begin(delivery) }
      if underWay.contains(id) { takenAgain[id] = delivery }
      return begin(delivery)
    }
    if condition == .probing, admitted.isEmpty, !isBehind { condition = .open }
    return admitted
  }

  mutating func failTaking() {
    finishedMeanwhile = nil
    isBehind = true
  }

  /// Adds a delivery to those under way, and returns true. If the delivery is under way already,
  /// returns false.
  private mutating func begin(_ delivery: Delivery) -> Bool {
    guard underWay.insert(delivery.id).inserted else { return false }
    guard let name = MergeName(delivery) else { return true }
    let known = newest[name]
    newest[name] = Newest(
      number: max(known?.number ?? delivery.id.number, delivery.id.number),
      count: (known?.count ?? 0) + 1)
    return true
  }

  // MARK: Outcomes

  /// Returns the number of the newest delivery under way that can replace this one; `nil` if there
  /// is none.
  func newer(than delivery: Delivery) -> Int64? {
    guard let name = MergeName(delivery), let newest = newest[name],
      newest.number > delivery.id.number
    else { return nil }
    return newest.number
  }

  /// Ends a delivery whose outcome is in the store.
  ///
  /// - Returns: The same delivery if it was taken from the store again meanwhile; otherwise `nil`.
  ///   A returned delivery is under way again, and the caller must send it.
  @discardableResult
  mutating func finish(_ delivery: Delivery) -> Delivery? {
    guard underWay.remove(delivery.id) != nil else { return nil }
    finishedMeanwhile?.insert(delivery.id)
    if let name = MergeName(delivery), var newest = newest[name] {
      newest.count -= 1
      self.newest[name] = newest.count == 0 ? nil : newest
    }
    guard let again = takenAgain.removeValue(forKey: delivery.id), begin(again) else { return nil }
    return again
  }

  /// Records that a delivery waits in the store until `due`.
  mutating func wait(until due: Timestamp) {
    // The awaited answer of the store would otherwise overwrite this time.
    if finishedMeanwhile != nil { isBehind = true }
    switch nextDue {
    case .unknown(let latest): nextDue = .unknown(min(latest ?? due, due))
    case .known(let known): nextDue = .known(min(known ?? due, due))
    }
  }

  // MARK: Pauses

  func pauses(for cause: PauseCause) -> Int { pauses[cause] ?? 0 }

  /// Records that the service processed a push, with any answer.
  ///
  /// - Returns: `true` if the route was paused and works again.
  mutating func succeed() -> Bool {
    unanswered = 0
    unsent = 0
    // A push that was sent before the pause does not show whether the route works again.
    guard !isPaused else { return false }
    condition = .open
    defer { pauses = [:] }
    return !pauses.isEmpty
  }

  /// Records an attempt without an answer.
  ///
  /// - Parameter wasSent: `true` if the push was sent; `false` if there was no connection.
  /// - Returns: `true` if the route should pause.
  mutating func remainUnanswered(wasSent: Bool) -> Bool {
    if wasSent { unanswered += 1 } else { unsent += 1 }
    return condition == .probing || unanswered >= Self.greatestUnanswered
      || unsent >= Self.greatestUnsent
  }

  /// Stops sending until `end`.
  ///
  /// - Returns: `true` if the pause is new; `false` if the route is paused already, because deliveries
  ///   that were under way fail one by one.
  mutating func pause(until end: Timestamp, for cause: PauseCause) -> Bool {
    isBehind = true
    if cause == .refusal { pauses[.silence] = nil }
    unanswered = 0
    unsent = 0
    if case .paused(let known) = condition {
      condition = .paused(until: max(known, end))
      return false
    }
    condition = .paused(until: end)
    pauses[cause, default: 0] += 1
    return true
  }

  // MARK: Waiting

  var isPaused: Bool {
    if case .paused = condition { true } else { false }
  }

  /// Whether nothing is under way, and the store has no delivery that could be sent now.
  var isSettled: Bool {
    underWay.isEmpty && finishedMeanwhile == nil && (isPaused || !isBehind)
  }

  /// Whether the store should be asked for deliveries as soon as possible.
  var needsTaking: Bool {
    guard isBehind, finishedMeanwhile == nil else { return false }
    switch condition {
    case .open: return underWay.count <= capacity / 2
    case .probing: return underWay.isEmpty
    case .paused: return false
    }
  }

  /// Whether the caller should ask the store for the time at which the next delivery is due.
  var wantsNextDue: Bool {
    if case .unknown = nextDue { !isBehind && finishedMeanwhile == nil } else { false }
  }

  /// Sets the time of the next due delivery, as the store answered; `nil` if no delivery waits.
  mutating func setNextDue(_ due: Timestamp?) {
    guard case .unknown(let latest) = nextDue else { return }
    nextDue = .known([due, latest].compactMap(\.self).min())
  }

  /// The time at which ``beginTaking(at:)`` must be called, even if nothing else happens; `nil` for
  /// never.
  var nextWake: Timestamp? {
    if case .paused(let end) = condition { return end }
    guard !isBehind, case .known(let due) = nextDue else { return nil }
    return due
  }

  /// Records that the store has due deliveries.
  mutating func fallBehind() {
    isBehind = true
  }

  /// Records that the clock may have been set forward. More deliveries may then be due, and a pause
  /// may be over.
  mutating func lookAgain(at now: Timestamp) {
    isBehind = true
    endPause(at: now)
  }

  /// The greatest step back of the clock, in seconds, that is ignored.
  private static let tolerance = 1.0

  /// Ends a pause that is over. If the clock was set back, also ends a pause that is not over,
  /// because it would last too long.
  private mutating func endPause(at now: Timestamp) {
    let wasSetBack = now.advanced(bySeconds: Self.tolerance) < latest
    latest = now
    guard case .paused(let end) = condition, wasSetBack || end <= now else { return }
    condition = .probing
    isBehind = true
  }
}
