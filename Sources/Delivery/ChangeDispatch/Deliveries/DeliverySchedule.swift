import CloudKitModel
import StoreModel

/// The deliveries of one route, as a value: which are under way, which may be sent now, and when
/// the store must be asked for more.
///
/// A route that does not work rests. Then one delivery probes it before the others follow.
struct DeliverySchedule {
  private enum Condition: Equatable {
    case open
    case resting(until: Timestamp)
    /// One delivery probes the route, or is about to.
    case probing
  }

  /// When the next delivery that waits in the store is due.
  private enum NextDue {
    /// At the latest at this time, at which a delivery was postponed since.
    case unknown(Timestamp?)
    case known(Timestamp?)
  }

  /// Identifies the deliveries of which only the newest need be sent.
  private struct MergeName: Hashable {
    var token: String
    var database: DatabaseID
    var key: DeliveryMergeKey

    init?(_ delivery: Delivery) {
      guard let key = delivery.mergeKey else { return nil }
      self.key = key
      token = delivery.device.token
      database = delivery.id.database
    }
  }

  enum RestCause: Hashable {
    /// The service refused all pushes.
    case refusal
    /// The service did not answer.
    case silence
  }

  private struct Newest {
    var number: Int64
    /// The number under way with that name.
    var count: Int
  }

  /// The most deliveries under way at once.
  let capacity: Int
  private(set) var underWay: Set<Delivery.ID> = []
  /// Deliveries under way that were taken again: the store has their last outcome, but the schedule
  /// does not know that yet.
  private var takenAgain: [Delivery.ID: Delivery] = [:]
  /// Whether the store may have due deliveries without a lease.
  private(set) var isBehind = true
  /// The number of consecutive rests by cause. After a long time without contact, the service may
  /// be working.
  private var rests: [RestCause: Int] = [:]
  private var condition = Condition.open
  /// The latest time at which the schedule was used.
  private var latest = Timestamp(milliseconds: .min)
  private var nextDue = NextDue.unknown(nil)
  /// The newest delivery under way for each name.
  private var newest: [MergeName: Newest] = [:]
  /// The deliveries finished since the store was asked. If their lease had ended, the store's
  /// answer may still contain them. Nil if no answer is awaited.
  private var finishedMeanwhile: Set<Delivery.ID>?
  private var unanswered = 0
  private var unsent = 0

  /// The number of consecutive attempts without an answer after which the route counts as broken.
  static let greatestUnanswered = 16
  /// The same for attempts that were not sent because there was no connection.
  static let greatestUnsent = 3

  init(capacity: Int) {
    self.capacity = capacity
  }

  // MARK: Adding deliveries

  /// The number of new deliveries that may be sent without waiting in the store. It is 0 while
  /// older ones wait in the store or are on their way from it, so that those are not overtaken.
  var free: Int {
    let isUpToDate = !isBehind && finishedMeanwhile == nil
    return condition == .open && isUpToDate ? max(0, capacity - underWay.count) : 0
  }

  /// Adds deliveries that were just logged and leased. Returns those to send now, and those beyond
  /// the capacity, which count as under way until they wait in the store again.
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

  /// The number of deliveries to take from the store now; nil for none. After a number,
  /// ``admit(_:)-([TakenDeliveries])`` or ``failTaking()`` must follow.
  mutating func beginTaking(at now: Timestamp) -> Int? {
    guard let limit = takeLimit(at: now) else { return nil }
    isBehind = false
    nextDue = .unknown(nil)
    finishedMeanwhile = []
    return limit
  }

  private mutating func takeLimit(at now: Timestamp) -> Int? {
    guard finishedMeanwhile == nil else { return nil }
    endRest(at: now)
    if case .known(let due?) = nextDue, due <= now { isBehind = true }
    guard isBehind else { return nil }
    switch condition {
    case .open: return underWay.count <= capacity / 2 ? capacity - underWay.count : nil
    case .probing: return underWay.isEmpty ? 1 : nil
    case .resting: return nil
    }
  }

  /// Adds the deliveries taken from the store, and returns those to send now. It leaves out
  /// deliveries under way: one that had waited in the store is returned later by ``finish(_:)``. It
  /// also leaves out a delivery whose lease had ended and that was finished meanwhile.
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

  /// The number of a newer delivery under way that can replace this one.
  func newer(than delivery: Delivery) -> Int64? {
    guard let name = MergeName(delivery), let newest = newest[name],
      newest.number > delivery.id.number
    else { return nil }
    return newest.number
  }

  /// Ends a delivery whose outcome is in the store.
  ///
  /// - Returns: the same delivery if it was taken again meanwhile. It is then under way again and
  ///   must be sent.
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

  /// Notes that a delivery waits in the store until `due`.
  mutating func wait(until due: Timestamp) {
    // The awaited answer of the store would otherwise overwrite this time.
    if finishedMeanwhile != nil { isBehind = true }
    switch nextDue {
    case .unknown(let latest): nextDue = .unknown(min(latest ?? due, due))
    case .known(let known): nextDue = .known(min(known ?? due, due))
    }
  }

  // MARK: Rests

  func rests(for cause: RestCause) -> Int { rests[cause] ?? 0 }

  /// Notes that the service processed a push, with any answer. Returns whether the route had
  /// rested.
  mutating func succeed() -> Bool {
    unanswered = 0
    unsent = 0
    // A push that was sent before the rest does not show whether the route works again.
    guard !isResting else { return false }
    condition = .open
    defer { rests = [:] }
    return !rests.isEmpty
  }

  /// Notes an attempt without an answer. Returns whether the route should rest.
  mutating func remainUnanswered(wasSent: Bool) -> Bool {
    if wasSent { unanswered += 1 } else { unsent += 1 }
    return condition == .probing || unanswered >= Self.greatestUnanswered
      || unsent >= Self.greatestUnsent
  }

  /// Sends nothing until `end`. Returns whether the rest is new, since deliveries under way may
  /// fail one by one.
  mutating func rest(until end: Timestamp, for cause: RestCause) -> Bool {
    isBehind = true
    if cause == .refusal { rests[.silence] = nil }
    unanswered = 0
    unsent = 0
    if case .resting(let known) = condition {
      condition = .resting(until: max(known, end))
      return false
    }
    condition = .resting(until: end)
    rests[cause, default: 0] += 1
    return true
  }

  // MARK: Waiting

  var isResting: Bool {
    if case .resting = condition { true } else { false }
  }

  /// Whether nothing is under way and the store has nothing that could be sent now.
  var isSettled: Bool {
    underWay.isEmpty && finishedMeanwhile == nil && (isResting || !isBehind)
  }

  /// Whether the store should be asked for deliveries as soon as possible.
  var needsTaking: Bool {
    guard isBehind, finishedMeanwhile == nil else { return false }
    switch condition {
    case .open: return underWay.count <= capacity / 2
    case .probing: return underWay.isEmpty
    case .resting: return false
    }
  }

  /// Whether the store must be asked when the next delivery is due.
  var wantsNextDue: Bool {
    if case .unknown = nextDue { !isBehind && finishedMeanwhile == nil } else { false }
  }

  /// Sets the store's answer to that question.
  mutating func setNextDue(_ due: Timestamp?) {
    guard case .unknown(let latest) = nextDue else { return }
    nextDue = .known([due, latest].compactMap(\.self).min())
  }

  /// When the schedule must be used again without another event; nil for never.
  var nextWake: Timestamp? {
    if case .resting(let end) = condition { return end }
    guard !isBehind, case .known(let due) = nextDue else { return nil }
    return due
  }

  /// Notes that the store has due deliveries.
  mutating func fallBehind() {
    isBehind = true
  }

  /// Notes that the clock may have been set forward.
  mutating func lookAgain(at now: Timestamp) {
    isBehind = true
    endRest(at: now)
  }

  /// The seconds by which a clock may be corrected without being treated as set back.
  private static let tolerance = 1.0

  /// Ends a rest that is over, or that began before the clock was set back and would therefore last
  /// too long.
  private mutating func endRest(at now: Timestamp) {
    let wasSetBack = now.advanced(bySeconds: Self.tolerance) < latest
    latest = now
    guard case .resting(let end) = condition, wasSetBack || end <= now else { return }
    condition = .probing
    isBehind = true
  }
}
