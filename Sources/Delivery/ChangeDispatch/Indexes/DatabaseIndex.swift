import CloudKitModel
import Matching
import StoreModel

/// The matching index of one database, and its position in the store's subscription changes.
struct DatabaseIndex: Sendable {
  private(set) var index = SubscriptionIndex()
  private(set) var position = SubscriptionPosition.beginning
  private var batches = 0

  /// The index learns from one of this many batches. Learning costs as much as some dozens of
  /// matches.
  private static let batchesPerLesson = 16
  /// The memory besides the index's own.
  private static let ownBytes = 8_192

  /// The approximate memory in bytes.
  var bytes: Int { Self.ownBytes + index.bytes }

  /// Applies subscription changes, which come in order.
  mutating func apply(_ changes: SubscriptionChanges) {
    if changes.startsAnew { index = SubscriptionIndex() }
    for name in changes.deleted {
      index.remove(
        SubscriptionKey(subscriber: name.subscriber, subscriptionID: name.subscriptionID))
    }
    for stored in changes.saved {
      let key = SubscriptionKey(
        subscriber: stored.subscriber, subscriptionID: stored.subscription.subscriptionID)
      index.insert(stored.subscription, for: key, version: stored.version)
    }
    position = changes.position
  }

  /// Lets the index learn from a change of a batch, from time to time.
  mutating func learn(from example: Change, using scratch: inout MatchScratch) {
    if batches.isMultiple(of: Self.batchesPerLesson) { index.learn(from: example, using: &scratch) }
    batches += 1
  }
}
