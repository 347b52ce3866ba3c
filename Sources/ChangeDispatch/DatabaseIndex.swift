import CloudKitModel
import Matching
import Storage

/// The matching index of one database, and how far it has followed the store.
struct DatabaseIndex: Sendable {
  private(set) var index = SubscriptionIndex()
  private(set) var position = SubscriptionPosition.beginning
  /// How large the subscriptions are as they are stored.
  private var contentBytes = 0
  private var batches = 0

  /// Of so many batches the index learns from one: what it takes is that of some dozens of matches.
  private static let batchesPerLesson = 16
  /// What the index takes of memory by itself, and for each subscription besides its content, of
  /// which it takes about twice the bytes: a million of 100 bytes each made a process 330 to 370 MB
  /// larger.
  private static let ownBytes = 8_192
  private static let bytesEach = 160

  /// About how much memory the index takes, in bytes.
  var bytes: Int { Self.ownBytes + index.count * Self.bytesEach + 2 * contentBytes }

  /// Follows the store. Changes come in order.
  mutating func apply(_ changes: SubscriptionChanges) {
    if changes.startsAnew {
      index = SubscriptionIndex()
      contentBytes = 0
    }
    for name in changes.deleted {
      remove(SubscriptionKey(subscriber: name.subscriber, subscriptionID: name.subscriptionID))
    }
    contentBytes += changes.savedBytes
    for stored in changes.saved {
      let key = SubscriptionKey(
        subscriber: stored.subscriber, subscriptionID: stored.subscription.subscriptionID)
      let count = index.count
      index.insert(stored.subscription, for: key, version: stored.version)
      if index.count == count { contentBytes -= contentBytes / count }
    }
    position = changes.position
  }

  /// Removes a subscription; its content counts as much as an average one.
  private mutating func remove(_ key: SubscriptionKey) {
    let count = index.count
    if index.remove(key) { contentBytes -= contentBytes / count }
  }

  /// Lets the index learn from a change of a batch, now and then.
  mutating func learn(from example: Change, using scratch: inout MatchScratch) {
    if batches.isMultiple(of: Self.batchesPerLesson) { index.learn(from: example, using: &scratch) }
    batches += 1
  }
}
