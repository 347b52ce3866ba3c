import Synchronization

/// Reads a requested entry, on the thread that fills the cache.
final class SearchCacheFill: StoreJob {
  private let name: SearchCacheEntry.Name
  private let cache: SearchCache
  /// The entry; nil if it was too large.
  private let made = Mutex<SearchCacheEntry?>(nil)

  init(of name: SearchCacheEntry.Name, for cache: SearchCache) {
    self.name = name
    self.cache = cache
  }

  func run(in transaction: StoreTransaction) throws {
    let entry = try SearchCacheEntry(reading: name, upTo: cache.limit, in: transaction)
    made.withLock { $0 = entry }
  }

  /// Passes nil to the cache after a failure.
  func finish(_ failure: (any Error)?) {
    cache.receive(failure == nil ? made.withLock { $0 } : nil, as: name)
  }
}
