import Matching
import StoreModel

/// The subscriptions that one change fires, in the order of their keys.
///
/// There may be a million, so they are kept as slots of the index, four bytes each. They become
/// subscriptions when they are taken.
struct Firings {
  /// The index that has the slots.
  private let index: SubscriptionIndex
  /// The slots of all firings, sorted by key.
  private let slots: [Int32]
  /// The number of firings that were taken or are settled.
  private var taken = 0

  /// Creates the firings of a change that are not settled yet.
  ///
  /// - Parameter slots: The slots of all firings, in any order.
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

  /// Whether all firings were taken.
  var isEmpty: Bool { taken == slots.count }

  /// Takes the next firings, with their content numbers (``SubscriptionMatch/contentNumber``).
  ///
  /// - Complexity: O(*n*), where *n* is the size of the subscriptions that are taken.
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

  /// Returns the position of the first firing after a key, by binary search.
  private func firstPlace(after key: SubscriptionKey) -> Int {
    var (low, high) = (0, slots.count)
    while low < high {
      let middle = (low + high) / 2
      if index.key(inSlot: slots[middle]) <= key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
