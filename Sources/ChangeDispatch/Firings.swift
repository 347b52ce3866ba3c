import CloudKitModel
import Matching
import Storage

/// The subscriptions that one change fires, in the order of their keys.
///
/// There may be a million, so they are kept as slots of the index, and made subscriptions when they
/// are taken.
struct Firings {
  private struct Firing {
    /// The subscriber's first bytes, by which most are told apart.
    var start: UInt64
    var slot: Int32
  }

  private let index: SubscriptionIndex
  private var firings: [Firing] = []
  private var taken = 0

  /// Those that are not settled yet.
  ///
  /// - Complexity: that of matching, and O(*n* log *n*) for *n* that fire.
  init(of entry: OutboxEntry, in index: SubscriptionIndex, using scratch: inout MatchScratch) {
    self.index = index
    var firings: [Firing] = []
    index.forEachMatch(of: entry.change, savedBy: entry.subscriptionVersion, using: &scratch) {
      firings.append(Firing(start: Self.start(of: index.key(inSlot: $0).subscriber), slot: $0))
    }
    firings.sort { left, right in
      left.start == right.start
        ? index.key(inSlot: left.slot) < index.key(inSlot: right.slot) : left.start < right.start
    }
    if let through = entry.settledThrough {
      let last = SubscriptionKey(
        subscriber: through.subscriber, subscriptionID: through.subscriptionID)
      firings.removeAll { index.key(inSlot: $0.slot) <= last }
    }
    self.firings = firings
  }

  var isEmpty: Bool { taken == firings.count }

  /// The next ones.
  mutating func take(atMost limit: Int) -> [StoredSubscription] {
    let next = firings[taken...].prefix(limit)
    taken += next.count
    return next.map { firing in
      let match = index[firing.slot]
      return StoredSubscription(
        subscriber: match.key.subscriber, subscription: match.subscription, version: match.version)
    }
  }

  /// The first eight bytes of a text, the first one highest; missing ones are 0.
  private static func start(of text: String) -> UInt64 {
    var start: UInt64 = 0
    var count = 0
    for byte in text.utf8.prefix(8) {
      start = start << 8 | UInt64(byte)
      count += 1
    }
    return start << UInt64(8 * (8 - count))
  }
}
