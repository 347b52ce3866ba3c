import CloudKitModel
import StoreModel
import Synchronization

/// Caches parts of the value index for later searches, within a limit of memory.
///
/// An entry is worth its memory, and the reading of a part of the index, if it saves searches time.
/// So searches report what a missing entry cost them, and an entry is made when that is a fair part
/// of the cost of making it. An entry that changes faster than it is used is dropped, and so is the
/// least recently used one when the memory is full. After each drop, twice the cost must be spent
/// before the entry is made again.
final class SearchCache: Sendable {
  typealias Name = SearchCacheEntry.Name

  fileprivate struct Demand {
    /// Index entries that searches have read because the entry was missing.
    var spent = 0.0
    /// The factor by which the usual cost must be spent before the entry is made.
    var costFactor = 1.0
    /// Whether the entry is being made.
    var isOrdered = false
  }

  fileprivate struct State {
    var entries: [Name: (entry: SearchCacheEntry, lastUse: Int)] = [:]
    var demands: [Name: Demand] = [:]
    var uses = 0
    var size = 0
    var made = 0
    var givenUp = 0
  }

  /// The memory for all entries in bytes. Beyond it, the least recently used entry is dropped.
  let limit: Int
  private let state = Mutex(State())

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

  func entry(_ name: Name) -> SearchCacheEntry? {
    state.withLock { state in
      state.uses += 1
      state.entries[name]?.lastUse = state.uses
      return state.entries[name]?.entry
    }
  }

  /// Adds a requested entry; nil if it was too large or could not be read.
  func receive(_ entry: SearchCacheEntry?, as name: Name) {
    state.withLock { state in
      state.made += 1
      state.demands[name]?.isOrdered = false
      if entry == nil { state.giveUp(name) }
    }
    if let entry { keep(entry, as: name) }
  }

  /// Adds an entry, unless there is a newer one or the entry exceeds the limit.
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

  /// Adds the cost of a missing entry to a search.
  func note(_ spent: Double, withoutEntry name: Name) {
    state.withLock { state in
      guard state.entries[name] == nil else { return }
      var demand = state.demands[name] ?? Demand()
      demand.spent += spent
      state.set(demand, for: name)
    }
  }

  /// Whether an entry of this cost is to be made. Only the first caller gets true until the entry
  /// is there.
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
