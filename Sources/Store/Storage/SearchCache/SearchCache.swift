import Synchronization

/// A cache of parts of the value index (``SearchCacheEntry``), in limited memory.
///
/// - Searches report what they have spent because an entry is missing. It is made when the sum is
///   high enough.
/// - If too many records change between two uses of an entry, the entry is removed. When the memory
///   is full, the least recently used entry is removed.
/// - After each removal, searches must spend twice as much until the entry is made again, at most
///   64 times the first sum.
///
/// All reading threads share the cache; a mutex guards it. Entries are values, so a search can use
/// one that has since been removed.
final class SearchCache: Sendable {
  typealias Name = SearchCacheEntry.Name

  /// The reported costs of a missing entry.
  fileprivate struct Demand {
    var spent = 0.0
    var costFactor = 1.0
    var isOrdered = false
  }

  /// Guarded by the mutex.
  fileprivate struct State {
    /// The entries with the value of ``uses`` at the last use.
    var entries: [Name: (entry: SearchCacheEntry, lastUse: Int)] = [:]
    var demands: [Name: Demand] = [:]
    /// Orders the last uses in time.
    var uses = 0
    var size = 0
    var made = 0
    var givenUp = 0
  }

  /// The most bytes. Beyond them, the least recently used entries are removed.
  let limit: Int
  private let state = Mutex(State())

  /// A limit of 0 keeps no entries.
  init(limit: Int) {
    self.limit = limit
  }

  var counts: SearchCacheCounts {
    state.withLock { state in
      let columns = state.entries.values.count { $0.entry.column != nil }
      return SearchCacheCounts(
        columns: columns, lists: state.entries.count - columns, size: state.size,
        made: state.made, givenUp: state.givenUp)
    }
  }

  /// Notes a use. The entry may be older or newer than the state of the store that the search
  /// sees.
  func entry(_ name: Name) -> SearchCacheEntry? {
    state.withLock { state in
      state.uses += 1
      state.entries[name]?.lastUse = state.uses
      return state.entries[name]?.entry
    }
  }

  /// Answers a request. Without an entry, because it was too large or could not be read, searches
  /// must spend twice as much until the next request.
  func receive(_ entry: SearchCacheEntry?, as name: Name) {
    state.withLock { state in
      state.made += 1
      state.demands[name]?.isOrdered = false
      if entry == nil { state.giveUp(name) }
    }
    if let entry { keep(entry, as: name) }
  }

  /// Replaces an older version. Beyond the limit, the least recently used entries are removed, and
  /// the new one if it alone exceeds the limit.
  func keep(_ entry: SearchCacheEntry, as name: Name) {
    state.withLock { state in
      let known = state.entries[name]?.entry
      if let known, known.version >= entry.version { return }
      state.uses += 1
      state.entries[name] = (entry, state.uses)
      state.size += entry.size - (known?.size ?? 0)
      while state.size > limit,
        let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        state.giveUp(oldest.key)
      }
    }
  }

  /// Removes an entry since whose last use too many records have changed.
  func giveUp(_ name: Name) {
    state.withLock { $0.giveUp(name) }
  }

  /// Index entries that a search has spent because the entry is missing. Does nothing if the cache
  /// now has it.
  func note(_ spent: Double, withoutEntry name: Name) {
    state.withLock { state in
      guard state.entries[name] == nil else { return }
      var demand = state.demands[name] ?? Demand()
      demand.spent += spent
      state.set(demand, for: name)
    }
  }

  /// Whether to make a missing entry now. After a caller got true, the others get false until the
  /// entry is received. `effort` is in index entries, before ``Demand/costFactor``.
  func isWorthMaking(_ name: Name, for effort: Double) -> Bool {
    state.withLock { state in
      let demand = state.demands[name] ?? Demand()
      guard state.entries[name] == nil, !demand.isOrdered,
        demand.spent >= effort * demand.costFactor
      else { return false }
      state.set(Demand(costFactor: demand.costFactor, isOrdered: true), for: name)
      return true
    }
  }
}

extension SearchCache.State {
  /// The demands at which all are removed before the next is added.
  private static let demandLimit = 10_000
  private static let greatestCostFactor = 64.0

  mutating func giveUp(_ name: SearchCacheEntry.Name) {
    if let entry = entries.removeValue(forKey: name)?.entry {
      size -= entry.size
      givenUp += 1
    }
    let costFactor = demands[name]?.costFactor ?? 1
    set(SearchCache.Demand(costFactor: min(Self.greatestCostFactor, 2 * costFactor)), for: name)
  }

  mutating func set(_ demand: SearchCache.Demand, for name: SearchCacheEntry.Name) {
    if demands[name] == nil, demands.count >= Self.demandLimit { demands = [:] }
    demands[name] = demand
  }
}

/// Reads a requested entry, on the thread that fills the cache.
final class SearchCacheFill: StoreJob {
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
