import CloudKitModel
import Matching
import Storage

/// The matching indexes of the databases that are being dispatched, kept current by each database's
/// subscription version.
///
/// An index holds nothing that the store does not: it is built when a database is first dispatched
/// and given up, least recently used first, when there are more than `capacity`.
actor SubscriptionIndexCache {
  private struct Cached {
    var index: SubscriptionIndex
    var version: Int64
    var lastUse: UInt64
    var batches = 0
  }

  /// Of so many batches the index learns from one: what it takes is that of some dozens of matches.
  private static let batchesPerLesson = 16

  private let store: any RecordStore
  private let capacity: Int
  private var cached: [DatabaseID: Cached] = [:]
  private var uses: UInt64 = 0
  private var scratch = MatchScratch()

  init(store: any RecordStore, capacity: Int) {
    self.store = store
    self.capacity = capacity
  }

  /// The index with every subscription that was saved before this call.
  ///
  /// Calls for one database must not overlap; those for different ones may.
  ///
  /// - Parameter example: one of the changes that are to be matched, for the index to learn from.
  func current(for database: DatabaseID, example: Change?) async throws -> SubscriptionIndex {
    let version = try await store.subscriptionVersion(of: database)
    // The copy here must be the only one, or to change it would copy the whole index.
    var entry =
      cached.removeValue(forKey: database)
      ?? Cached(index: SubscriptionIndex(), version: 0, lastUse: 0)
    if version != entry.version {
      let changes = try await store.subscriptionChanges(in: database, since: entry.version)
      Self.apply(changes, to: &entry.index)
      entry.version = changes.version
    }
    if let example, entry.batches.isMultiple(of: Self.batchesPerLesson) {
      entry.index.learn(from: example, using: &scratch)
    }
    entry.batches += 1
    uses += 1
    entry.lastUse = uses
    cached[database] = entry
    evict()
    return entry.index
  }

  private static func apply(_ changes: SubscriptionChanges, to index: inout SubscriptionIndex) {
    if changes.isComplete { index = SubscriptionIndex() }
    for name in changes.deleted {
      index.remove(
        SubscriptionKey(subscriber: name.subscriber, subscriptionID: name.subscriptionID))
    }
    for stored in changes.saved {
      index.insert(
        stored.subscription,
        for: SubscriptionKey(
          subscriber: stored.subscriber, subscriptionID: stored.subscription.subscriptionID),
        version: stored.version)
    }
  }

  private func evict() {
    guard cached.count > capacity,
      let oldest = cached.min(by: { $0.value.lastUse < $1.value.lastUse })
    else { return }
    cached[oldest.key] = nil
  }
}
