import CloudKitModel
import StoreModel

/// The deliveries of one route, as a value: which are under way, what may be sent now, and when the
/// store has to be asked for more.
///
/// A route that does not work rests. Then one delivery tries whether it works again, before all the
/// others follow.
struct DeliverySchedule {
  private enum Condition: Equatable {
    case open
    case resting(until: Timestamp)
    /// One delivery is tried, or is about to be.
    case probing
  }

  /// When a delivery that waits in the store is due next.
  private enum NextDue {
    /// But not later than this, which was put off since.
    case unknown(Timestamp?)
    case known(Timestamp?)
  }

  /// Names the deliveries of which only the newest need be sent.
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
    /// The service answered that nothing goes.
    case refusal
    /// No answer came.
    case silence
  }

  private struct Newest {
    var number: Int64
    /// How many with that name are under way.
    var count: Int
  }

  /// Deliveries that may be under way at once.
  let capacity: Int
  private(set) var underWay: Set<Delivery.ID> = []
  /// Of those under way, what was taken once more: their last outcome is in the store, which is not known
  /// here yet.
  private var takenAgain: [Delivery.ID: Delivery] = [:]
  /// Whether the store may hold deliveries that are due and that nobody has taken.
  private(set) var isBehind = true
  /// How often in a row it came to rest, by why: a service that was out of reach for long may be
  /// well.
  private var rests: [RestCause: Int] = [:]
  private var condition = Condition.open
  /// The latest time at which it was asked.
  private var latest = Timestamp(milliseconds: .min)
  private var nextDue = NextDue.unknown(nil)
  /// Of the deliveries under way, the newest by name.
  private var newest: [MergeName: Newest] = [:]
  /// What was finished since the store was asked: when its lease had ended, it may stand in the
  /// answer all the same. Nil when no answer is awaited.
  private var finishedMeanwhile: Set<Delivery.ID>?
  private var unanswered = 0
  private var unsent = 0

  /// So many attempts in a row without an answer mean that the route does not work.
  static let greatestUnanswered = 16
  /// And so many that were not even sent, for want of a connection.
  static let greatestUnsent = 3

  init(capacity: Int) {
    self.capacity = capacity
  }

  // MARK: Taking in

  /// How many new deliveries may be sent without having waited in the store: none while older ones
  /// wait there, or are on their way from there: they would be overtaken.
  var free: Int {
    let isUpToDate = !isBehind && finishedMeanwhile == nil
    return condition == .open && isUpToDate ? max(0, capacity - underWay.count) : 0
  }

  /// Takes in deliveries that were just logged and leased. Answers those to send now, and those
  /// beyond the capacity after all: they are under way, too, until they wait in the store again.
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

  /// How many deliveries the store should be asked for at this moment; nil for none. Then
  /// ``admit(_:)-([TakenDeliveries])`` or ``failTaking()`` follows.
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

  /// Takes in the store's answer and answers those to send now. What is under way is left out, until
  /// ``finish(_:)`` where it waited in the store, and so is that whose lease ended and that was finished in
  /// between.
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

  /// The number of a newer delivery, which was under way at the same time, that says all that this one
  /// says.
  func newer(than delivery: Delivery) -> Int64? {
    guard let name = MergeName(delivery), let newest = newest[name],
      newest.number > delivery.id.number
    else { return nil }
    return newest.number
  }

  /// This one is under way no longer: its outcome is in the store.
  ///
  /// - Returns: the same delivery if it was taken once more since its outcome is there. It is under way again,
  ///   and to be sent.
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

  /// A delivery waits in the store until then.
  mutating func wait(until due: Timestamp) {
    // Before an answer of the store that is awaited, it would be forgotten.
    if finishedMeanwhile != nil { isBehind = true }
    switch nextDue {
    case .unknown(let latest): nextDue = .unknown(min(latest ?? due, due))
    case .known(let known): nextDue = .known(min(known ?? due, due))
    }
  }

  // MARK: Rest

  func rests(for cause: RestCause) -> Int { rests[cause] ?? 0 }

  /// The service took care of a push, whatever it said of it. Answers whether the route had rested.
  mutating func succeed() -> Bool {
    unanswered = 0
    unsent = 0
    // One that was under way when the rest began says nothing of what comes.
    guard !isResting else { return false }
    condition = .open
    defer { rests = [:] }
    return !rests.isEmpty
  }

  /// An attempt remained without an answer. Answers whether the route should rest.
  mutating func remainUnanswered(wasSent: Bool) -> Bool {
    if wasSent { unanswered += 1 } else { unsent += 1 }
    return condition == .probing || unanswered >= Self.greatestUnanswered
      || unsent >= Self.greatestUnsent
  }

  /// Sends nothing more until then. Answers whether it is news: what was under way may fail one by
  /// one.
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

  /// Whether nothing is under way and the store holds nothing that could be sent now.
  var isSettled: Bool {
    underWay.isEmpty && finishedMeanwhile == nil && (isResting || !isBehind)
  }

  /// Whether the store should be asked for deliveries as soon as somebody can.
  var needsTaking: Bool {
    guard isBehind, finishedMeanwhile == nil else { return false }
    switch condition {
    case .open: return underWay.count <= capacity / 2
    case .probing: return underWay.isEmpty
    case .resting: return false
    }
  }

  /// Whether the store has to be asked when something is due next.
  var wantsNextDue: Bool {
    if case .unknown = nextDue { !isBehind && finishedMeanwhile == nil } else { false }
  }

  /// The store's answer to that.
  mutating func setNextDue(_ due: Timestamp?) {
    guard case .unknown(let latest) = nextDue else { return }
    nextDue = .known([due, latest].compactMap(\.self).min())
  }

  /// When it has to be looked at again though nothing happens; nil when it has not.
  var nextWake: Timestamp? {
    if case .resting(let end) = condition { return end }
    guard !isBehind, case .known(let due) = nextDue else { return nil }
    return due
  }

  /// The store holds deliveries that are due.
  mutating func fallBehind() {
    isBehind = true
  }

  /// The clock may have been set forward.
  mutating func lookAgain(at now: Timestamp) {
    isBehind = true
    endRest(at: now)
  }

  /// Seconds by which a clock is corrected without anybody's notice.
  private static let tolerance = 1.0

  /// Ends a rest whose time is up, or from before the clock was set back: it would last for as much
  /// longer.
  private mutating func endRest(at now: Timestamp) {
    let wasSetBack = now.advanced(bySeconds: Self.tolerance) < latest
    latest = now
    guard case .resting(let end) = condition, wasSetBack || end <= now else { return }
    condition = .probing
    isBehind = true
  }
}
