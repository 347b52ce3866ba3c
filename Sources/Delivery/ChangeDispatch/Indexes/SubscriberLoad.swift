import Matching

/// The work that each subscriber causes in a batch of changes: firings, and checks of predicates that
/// are costly to match. It decides whose firings are deferred (`DeferredWork`), so that a subscriber
/// who causes very much work does not delay the others. It is a value.
///
/// Subscribers are numbers of the index, which must not change meanwhile.
struct SubscriberLoad {
  /// If the batch has more firings than this many subscribers may have, only a part of the limit
  /// applies: so many subscribers with many firings delay the others together.
  private static let manySubscribers = 8
  /// The part of the limit that the firings of one subscriber in a change must have to count. So a
  /// change with many subscribers, who have one or two subscriptions each, costs little.
  private static let parts = 128
  /// The number of firings for which a firing of a large change counts.
  private static let largeWeight = 16
  /// The number of firings of a subscriber in the batch above which the subscriber is deferred.
  private let limit: Int
  /// The matching cost of a subscriber in the batch above which the subscriber is deferred.
  private let costLimit: Int
  /// The subscribers who were deferred before the batch, or exceeded the limit in it.
  private(set) var deferred: SubscriberSet
  private var total = 0
  /// The number of counted firings of each subscriber since ``total`` exceeded the limit.
  private var counts: [UInt32: Int] = [:]
  private var totalCost = 0
  /// The matching cost of each subscriber since ``totalCost`` exceeded the limit.
  private var costs: [UInt32: Int] = [:]

  /// Creates the load of a new batch.
  ///
  /// - Parameter deferred: The numbers of the subscribers who are deferred already.
  init(deferring deferred: SubscriberSet, limit: Int, costLimit: Int) {
    self.deferred = deferred
    self.limit = limit
    self.costLimit = costLimit
  }

  /// Counts the firings of a change. The subscribers who exceed the limit with it are deferred from
  /// this change on.
  ///
  /// - Parameters:
  ///   - count: The number of firings of the change.
  ///   - isLarge: Whether the notifications of the change may be large.
  ///   - forEachSubscriber: Visits each subscriber with the number of the subscriber's firings. It is
  ///     called only after the batch has more firings than one subscriber may have.
  /// - Returns: The subscribers who are deferred from this change on.
  mutating func count(
    _ count: Int, isLarge: Bool,
    _ forEachSubscriber: ((_ number: UInt32, _ count: Int) -> Void) -> Void
  ) -> [UInt32] {
    let weight = isLarge ? Self.largeWeight : 1
    total += count * weight
    guard total > limit else { return [] }
    let limit = Self.limit(limit, with: total)
    var exceeding: [UInt32] = []
    forEachSubscriber { number, count in
      guard count * weight >= self.limit / Self.parts else { return }
      let sum = counts[number, default: 0] + count * weight
      counts[number] = sum
      if sum > limit, deferred.insert(number) { exceeding.append(number) }
    }
    return exceeding
  }

  /// The costs to match the next changes of the batch with.
  var nextCosts: MatchingCosts {
    MatchingCosts(excluding: deferred, bySubscriber: totalCost > costLimit)
  }

  /// Adds what the matching of some changes cost.
  mutating func add(_ costs: MatchingCosts) {
    totalCost += costs.total
    self.costs.merge(costs.bySubscriber, uniquingKeysWith: +)
  }

  /// Defers the subscribers whose matching cost exceeds the limit, and returns them.
  mutating func deferCostly() -> [UInt32] {
    let limit = Self.limit(costLimit, with: totalCost)
    return costs.compactMap { $0.value > limit && deferred.insert($0.key) ? $0.key : nil }
  }

  /// Returns the limit of one subscriber, which is lower if many have many firings.
  private static func limit(_ limit: Int, with total: Int) -> Int {
    total > manySubscribers * limit ? limit / manySubscribers : limit
  }
}
