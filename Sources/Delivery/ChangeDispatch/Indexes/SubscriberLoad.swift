/// The numbers of firings of each subscriber in a batch of changes. It decides whose firings are
/// deferred (`DeferredWork`), so that a subscriber with very many firings does not delay the others.
/// It is a value.
///
/// Subscribers are numbers of the index, which must not change meanwhile.
struct SubscriberLoad {
  /// If the batch has more firings than this many subscribers may have, only a part of the limit
  /// applies: so many subscribers with many firings delay the others together.
  private static let crowd = 8
  /// The part of the limit that the firings of one subscriber in a change must have to count. So a
  /// change with many subscribers, who have one or two subscriptions each, costs little.
  private static let parts = 128
  /// The number of firings for which a firing of a large change counts.
  private static let largeWeight = 16

  /// The number of firings of a subscriber in the batch above which the subscriber is deferred.
  private let limit: Int
  /// The subscribers who were deferred before the batch, or exceeded the limit in it.
  private(set) var deferred: Set<UInt32>
  /// The number of firings of all subscribers in the batch so far.
  private var total = 0
  /// The number of counted firings of each subscriber since ``total`` exceeded the limit.
  private var counts: [UInt32: Int] = [:]

  /// Creates the load of a new batch.
  ///
  /// - Parameter deferred: The numbers of the subscribers who are deferred already.
  init(deferring deferred: Set<UInt32>, limit: Int) {
    self.deferred = deferred
    self.limit = limit
  }

  /// Counts the firings of a change. The subscribers who exceed the limit with it are deferred from
  /// this change on.
  ///
  /// - Parameters:
  ///   - count: The number of firings of the change.
  ///   - isLarge: Whether the notifications of the change may be large.
  ///   - forEachSubscriber: Visits each subscriber with one of the subscriber's firings and their
  ///     number. It is called only after the batch has more firings than one subscriber may have.
  /// - Returns: A firing of each subscriber who is deferred from this change on.
  mutating func count(
    _ count: Int, isLarge: Bool,
    _ forEachSubscriber: ((_ number: UInt32, _ first: Int32, _ count: Int) -> Void) -> Void
  ) -> [Int32] {
    let weight = isLarge ? Self.largeWeight : 1
    total += count * weight
    guard total > limit else { return [] }
    let limit = total > Self.crowd * limit ? limit / Self.crowd : limit
    var exceeding: [Int32] = []
    forEachSubscriber { number, first, count in
      guard count * weight >= self.limit / Self.parts else { return }
      let sum = counts[number, default: 0] + count * weight
      counts[number] = sum
      if sum > limit, deferred.insert(number).inserted { exceeding.append(first) }
    }
    return exceeding
  }
}
