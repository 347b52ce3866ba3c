import Synchronization

/// A job that reads a requested entry of the search cache from the value index. The thread that
/// fills the cache runs the job.
final class SearchCacheFill: StoreJob {
  private let name: SearchCacheEntry.Name
  private let cache: SearchCache
  /// The entry that ``run(in:)`` has read, for ``finish(_:)``; nil if it was too large.
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

  /// Passes the entry to the cache, or nil if reading it failed.
  func finish(_ failure: (any Error)?) {
    cache.receive(failure == nil ? made.withLock { $0 } : nil, as: name)
  }
}
