import Matching
import StoreModel

/// The subscriptions that one change fires, in the order of their keys.
///
/// There may be a million, so they are kept as slots of the index and become subscriptions when
/// they are taken.
struct Firings {
  private let index: SubscriptionIndex
  private let slots: [Int32]
  private var taken = 0

  /// The firings that are not settled yet.
  ///
  /// - Parameter slots: the slots of all firings, in any order.
  /// - Complexity: O(*n* log *n*) for *n* firings.
  init(of entry: OutboxEntry, _ slots: [Int32], in index: SubscriptionIndex) {
    self.index = index
    var slots = slots
    index.sort(&slots)
    self.slots = slots
    if let last = entry.settledThrough {
      taken = firstPlace(
        after: SubscriptionKey(subscriber: last.subscriber, subscriptionID: last.subscriptionID))
    }
  }

  var isEmpty: Bool { taken == slots.count }

  /// The next ones, with their content numbers (``SubscriptionMatch/contentNumber``).
  mutating func take(
    atMost limit: Int
  ) -> (subscriptions: [StoredSubscription], contentNumbers: [UInt64]) {
    let next = slots[taken...].prefix(limit)
    taken += next.count
    let matches = index.matches(inSlots: next)
    let subscriptions = matches.map { match in
      StoredSubscription(
        subscriber: match.key.subscriber, subscription: match.subscription, version: match.version)
    }
    return (subscriptions, matches.map(\.contentNumber))
  }

  /// The position of the first firing after a key, by binary search.
  private func firstPlace(after key: SubscriptionKey) -> Int {
    var (low, high) = (0, slots.count)
    while low < high {
      let middle = (low + high) / 2
      if index.key(inSlot: slots[middle]) <= key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
