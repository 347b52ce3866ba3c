import Synchronization

/// A job that makes an entry which searches want. The thread that fills the search cache runs it.
final class SearchCacheFill: StoreJob {
  let gathersWrites = false
  private let name: SearchCacheEntry.Name
  private let cache: SearchCache
  /// The entry, from ``run(in:)`` to ``finish(_:)``; nil if it was too large.
  private let made = Mutex<SearchCacheEntry?>(nil)

  /// Creates the job for an entry.
  init(of name: SearchCacheEntry.Name, for cache: SearchCache) {
    self.name = name
    self.cache = cache
  }

  /// Reads the entry from the value index.
  func run(in transaction: StoreTransaction) throws {
    let entry = try SearchCacheEntry(reading: name, upTo: cache.limit, in: transaction)
    made.withLock { $0 = entry }
  }

  /// Gives the entry to the cache; nil if reading it failed.
  func finish(_ failure: (any Error)?) {
    cache.receive(failure == nil ? made.withLock { $0 } : nil, as: name)
  }
}
