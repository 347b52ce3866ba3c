import CloudKitModel
import Matching
import StoreModel

/// The matching index of one database, or of a part of one, with its position in the store's
/// subscription changes.
struct DatabaseIndex: Sendable {
  /// The index.
  private(set) var index = SubscriptionIndex()
  /// The position up to which subscription changes were applied.
  private(set) var position = SubscriptionPosition.beginning
  /// The number of batches that were dispatched with the index.
  private var batches = 0

  /// The number of batches of which the index learns from one. Learning costs as much as some
  /// dozens of matches.
  private static let batchesPerLesson = 16
  /// The estimated memory in bytes besides the index's own.
  private static let ownBytes = 8_192

  /// The approximate memory in bytes.
  var bytes: Int { Self.ownBytes + index.bytes }

  /// Applies subscription changes. The caller passes them in order.
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

  /// Lets the index learn from a change of the batch, in one of sixteen batches.
  mutating func learn(from example: Change, using scratch: inout MatchScratch) {
    if batches.isMultiple(of: Self.batchesPerLesson) { index.learn(from: example, using: &scratch) }
    batches += 1
  }
}
