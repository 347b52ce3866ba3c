import CloudKitModel
import StoreModel
import Synchronization

/// A cache of parts of the value index for later searches, within a limit of memory.
///
/// An entry is worth its memory, and the reading of a part of the index, if it saves searches time.
/// So searches report the cost of a missing entry. An entry is made when the sum is a fair part of
/// the cost of making it. An entry that changes faster than it is used is dropped, and so is the
/// least recently used one when the memory is full. After each drop, twice the cost must be spent
/// before the entry is made again.
///
/// The readers share it; a mutex guards its state. Entries are values, so a search keeps the entry
/// that it got, whatever happens in the cache.
final class SearchCache: Sendable {
  /// The name of an entry.
  typealias Name = SearchCacheEntry.Name

  /// The demand for a missing entry.
  fileprivate struct Demand {
    /// The index entries that searches have read because the entry was missing.
    var spent = 0.0
    /// The factor by which the usual cost must be spent before the entry is made.
    var costFactor = 1.0
    /// Whether the entry is being made.
    var isOrdered = false
  }

  /// The state that the mutex guards.
  fileprivate struct State {
    /// The entries, each with the value of ``uses`` at its last use.
    var entries: [Name: (entry: SearchCacheEntry, lastUse: Int)] = [:]
    /// The demands for missing entries.
    var demands: [Name: Demand] = [:]
    /// The number of uses so far: a clock for the last uses.
    var uses = 0
    /// The memory of all entries in bytes.
    var size = 0
    /// The number of entries that were made or could not be made.
    var made = 0
    /// The number of entries that were dropped.
    var givenUp = 0
  }

  /// The memory for all entries in bytes. Beyond it, the least recently used entry is dropped.
  let limit: Int
  private let state = Mutex(State())

  /// Creates an empty cache.
  ///
  /// - Parameter limit: the memory for all entries in bytes; 0 for a cache that keeps none.
  init(limit: Int) {
    self.limit = limit
  }

  /// The contents and the turnover, for metrics.
  var counts: SearchCacheCounts {
    state.withLock { state in
      let columns = state.entries.values.count { $0.entry.column != nil }
      return SearchCacheCounts(
        columns: columns, lists: state.entries.count - columns, size: state.size,
        made: state.made, givenUp: state.givenUp)
    }
  }

  /// Returns an entry, and notes its use; nil if it is missing. The entry may be of another version
  /// than the search sees.
  func entry(_ name: Name) -> SearchCacheEntry? {
    state.withLock { state in
      state.uses += 1
      state.entries[name]?.lastUse = state.uses
      return state.entries[name]?.entry
    }
  }

  /// Adds a requested entry.
  ///
  /// - Parameter entry: the entry; nil if it was too large or could not be read. Then twice the
  ///   cost must be spent before it is requested again.
  func receive(_ entry: SearchCacheEntry?, as name: Name) {
    state.withLock { state in
      state.made += 1
      state.demands[name]?.isOrdered = false
      if entry == nil { state.giveUp(name) }
    }
    if let entry { keep(entry, as: name) }
  }

  /// Adds an entry, or replaces an older one. If the memory exceeds the limit, the least recently
  /// used entries are dropped, perhaps this one.
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

  /// Drops an entry of which too much was changed since its last use.
  func giveUp(_ name: Name) {
    state.withLock { $0.giveUp(name) }
  }

  /// Adds the cost of a missing entry to a search. It does nothing if the entry is there meanwhile.
  ///
  /// - Parameter spent: the cost in index entries.
  func note(_ spent: Double, withoutEntry name: Name) {
    state.withLock { state in
      guard state.entries[name] == nil else { return }
      var demand = state.demands[name] ?? Demand()
      demand.spent += spent
      state.set(demand, for: name)
    }
  }

  /// Returns whether an entry of this cost is to be made. Only the first caller gets true until the
  /// entry is there.
  ///
  /// - Parameter effort: the cost in index entries that searches must have spent, before
  ///   ``Demand/costFactor``.
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
  /// The most missing entries whose demand is counted; beyond it, all counts are dropped.
  private static let demandLimit = 10_000
  /// The limit of `costFactor`, so that an entry can be made again however often it was dropped.
  private static let greatestCostFactor = 64.0

  /// Drops an entry, and doubles the cost of making it again.
  mutating func giveUp(_ name: SearchCacheEntry.Name) {
    if let entry = entries.removeValue(forKey: name)?.entry {
      size -= entry.size
      givenUp += 1
    }
    let costFactor = demands[name]?.costFactor ?? 1
    set(SearchCache.Demand(costFactor: min(Self.greatestCostFactor, 2 * costFactor)), for: name)
  }

  /// Sets the demand for an entry.
  mutating func set(_ demand: SearchCache.Demand, for name: SearchCacheEntry.Name) {
    if demands[name] == nil, demands.count >= Self.demandLimit { demands = [:] }
    demands[name] = demand
  }
}
