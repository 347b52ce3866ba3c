import CloudKitModel
import Matching
import StoreModel

/// The matching index of one database, or of one part of a divided database. The store has a list
/// of the changes of subscriptions; the index knows its position in this list.
struct DatabaseIndex: Sendable {
  private(set) var index = SubscriptionIndex()
  /// The position up to which subscription changes were applied.
  private(set) var position = SubscriptionPosition.beginning
  private var batches = 0

  /// The index learns from one batch of this many. Learning costs as much as some dozens of
  /// matches.
  private static let batchesPerLesson = 16
  /// The estimated memory in bytes that the size of the index does not include.
  private static let ownBytes = 8_192

  var bytes: Int { Self.ownBytes + index.bytes }

  /// Applies subscription changes. The caller passes all changes since ``position``, in order.
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

  /// Counts a batch. In one of sixteen batches, the index learns from `example`, a change of the
  /// batch.
  mutating func learn(from example: Change, using scratch: inout MatchScratch) {
    if batches.isMultiple(of: Self.batchesPerLesson) { index.learn(from: example, using: &scratch) }
    batches += 1
  }
}
