import Synchronization

/// Makes an entry that searches want, on another thread.
final class SearchCacheFill: StoreJob {
  let gathersWrites = false
  private let name: SearchCacheEntry.Name
  private let cache: SearchCache
  private let made = Mutex<SearchCacheEntry?>(nil)

  init(of name: SearchCacheEntry.Name, for cache: SearchCache) {
    self.name = name
    self.cache = cache
  }

  func run(in transaction: StoreTransaction) throws {
    let entry = try SearchCacheEntry(reading: name, upTo: cache.limit, in: transaction)
    made.withLock { $0 = entry }
  }

  func finish(_ failure: (any Error)?) {
    cache.receive(failure == nil ? made.withLock { $0 } : nil, as: name)
  }
}
