import Matching
import StoreModel

/// The subscriptions that one change fires, in the order of their keys.
///
/// There may be a million of these *firings*, so they are stored as slots of the index, four bytes
/// each. ``take(atMost:)`` returns them as subscriptions. A firing is *settled* if an earlier
/// transaction has written its notification.
struct Firings {
  private let index: SubscriptionIndex
  /// The slots of all firings, sorted by key.
  private let slots: [Int32]
  /// The number of firings that are settled or that ``take(atMost:)`` has returned.
  private var taken = 0

  /// Creates the firings of a change, without those that are settled.
  ///
  /// - Parameter slots: The slots of all firings, sorted by key.
  init(of entry: OutboxEntry, sorted slots: [Int32], in index: SubscriptionIndex) {
    self.index = index
    self.slots = slots
    if let last = entry.settledThrough {
      taken = firstPlace(
        after: SubscriptionKey(subscriber: last.subscriber, subscriptionID: last.subscriptionID))
    }
  }

  var isEmpty: Bool { taken == slots.count }

  /// Removes and returns the next firings, with their content numbers
  /// (`SubscriptionMatch.contentNumber`).
  ///
  /// - Complexity: O(*n*), where *n* is the size in bytes of the returned subscriptions.
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

  /// Makes the last `count` firings that ``take(atMost:)`` returned the next ones again.
  mutating func giveBack(_ count: Int) { taken -= count }

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
