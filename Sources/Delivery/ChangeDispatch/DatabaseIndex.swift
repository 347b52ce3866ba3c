import CloudKitModel
import Matching
import StoreModel

/// The matching index of one database, and how far it has followed the store.
struct DatabaseIndex: Sendable {
  private(set) var index = SubscriptionIndex()
  private(set) var position = SubscriptionPosition.beginning
  private var batches = 0

  /// Of so many batches the index learns from one: what it takes is that of some dozens of matches.
  private static let batchesPerLesson = 16
  /// What is there besides what the index tells.
  private static let ownBytes = 8_192

  /// About how much memory the index takes, in bytes.
  var bytes: Int { Self.ownBytes + index.bytes }

  /// Follows the store. Changes come in order.
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

  /// Lets the index learn from a change of a batch, now and then.
  mutating func learn(from example: Change, using scratch: inout MatchScratch) {
    if batches.isMultiple(of: Self.batchesPerLesson) { index.learn(from: example, using: &scratch) }
    batches += 1
  }
}
