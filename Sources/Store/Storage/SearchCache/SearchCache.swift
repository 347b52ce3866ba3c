import CloudKitModel
import StoreModel
import Synchronization

/// A cache of parts of the value index in memory. The parts are called *entries*
/// (``SearchCacheEntry``). Their memory is limited.
///
/// - Searches report what they have spent because an entry is missing. An entry is made when the
///   sum of these costs is high enough.
/// - If too many records change between two uses of an entry, the entry is removed. When the memory
///   is full, the least recently used entry is removed.
/// - After each removal, searches must spend twice as much as before until the entry is made again,
///   but at most 64 times the first sum.
///
/// All reading threads share the cache; a mutex guards its state. Entries are values, so a search
/// can use an entry that has since been removed from the cache.
final class SearchCache: Sendable {
  /// The name of an entry.
  typealias Name = SearchCacheEntry.Name

  /// The costs that searches have reported for a missing entry.
  fileprivate struct Demand {
    /// The sum of the reported costs, in index entries: the time to read one entry of the index in
    /// order.
    var spent = 0.0
    /// The factor by which the usual cost is multiplied, before ``spent`` is compared with it.
    var costFactor = 1.0
    /// Whether the entry was requested and has not been received yet.
    var isOrdered = false
  }

  /// The state that the mutex guards.
  fileprivate struct State {
    /// The entries, each with the value that ``uses`` had at the entry's last use.
    var entries: [Name: (entry: SearchCacheEntry, lastUse: Int)] = [:]
    /// The demands for missing entries, and the cost factors of entries that were removed before.
    var demands: [Name: Demand] = [:]
    /// The number of uses of all entries so far, by which the last uses are ordered in time.
    var uses = 0
    /// The memory of all entries in bytes.
    var size = 0
    /// The number of requests for entries that were answered, with or without an entry.
    var made = 0
    /// The number of entries that were removed.
    var givenUp = 0
  }

  /// The most bytes for all entries together. Beyond it, the least recently used entries are
  /// removed.
  let limit: Int
  private let state = Mutex(State())

  /// Creates an empty cache.
  ///
  /// - Parameter limit: the most bytes for all entries together; 0 for a cache that keeps no
  ///   entries.
  init(limit: Int) {
    self.limit = limit
  }

  /// The numbers of entries, made entries and removed entries, and the memory, for metrics.
  var counts: SearchCacheCounts {
    state.withLock { state in
      let columns = state.entries.values.count { $0.entry.column != nil }
      return SearchCacheCounts(
        columns: columns, lists: state.entries.count - columns, size: state.size,
        made: state.made, givenUp: state.givenUp)
    }
  }

  /// Returns an entry, and notes its use; nil if the entry is missing. The entry may be older or
  /// newer than the state of the store that the search sees.
  func entry(_ name: Name) -> SearchCacheEntry? {
    state.withLock { state in
      state.uses += 1
      state.entries[name]?.lastUse = state.uses
      return state.entries[name]?.entry
    }
  }

  /// Adds an entry that was requested.
  ///
  /// - Parameter entry: the entry; nil if it was too large or could not be read. In that case,
  ///   searches must spend twice as much as before until the entry is requested again.
  func receive(_ entry: SearchCacheEntry?, as name: Name) {
    state.withLock { state in
      state.made += 1
      state.demands[name]?.isOrdered = false
      if entry == nil { state.giveUp(name) }
    }
    if let entry { keep(entry, as: name) }
  }

  /// Adds an entry, or replaces an older version of the entry. If the memory then exceeds the
  /// limit, the least recently used entries are removed. If the new entry alone exceeds the limit,
  /// it is removed too.
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

  /// Removes an entry. Call it if too many records have changed since the entry's last use.
  func giveUp(_ name: Name) {
    state.withLock { $0.giveUp(name) }
  }

  /// Adds a cost to the demand for a missing entry. The method does nothing if the cache now has
  /// the entry.
  ///
  /// - Parameter spent: the cost in index entries that the search has spent because the entry was
  ///   missing.
  func note(_ spent: Double, withoutEntry name: Name) {
    state.withLock { state in
      guard state.entries[name] == nil else { return }
      var demand = state.demands[name] ?? Demand()
      demand.spent += spent
      state.set(demand, for: name)
    }
  }

  /// Returns whether a missing entry is to be made now, and notes it as requested. After a caller
  /// got true, the others get false until the cache receives the entry.
  ///
  /// - Parameter effort: the cost in index entries that searches must have spent, before
  ///   multiplication by ``Demand/costFactor``.
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
  /// The most missing entries whose demand is stored. At the limit, all demands are removed before
  /// the next is added.
  private static let demandLimit = 10_000
  /// The greatest cost factor. With a limit, an entry can be made again however often it was
  /// removed.
  private static let greatestCostFactor = 64.0

  /// Removes an entry if the cache has it, and doubles the cost factor for making it again.
  mutating func giveUp(_ name: SearchCacheEntry.Name) {
    if let entry = entries.removeValue(forKey: name)?.entry {
      size -= entry.size
      givenUp += 1
    }
    let costFactor = demands[name]?.costFactor ?? 1
    set(SearchCache.Demand(costFactor: min(Self.greatestCostFactor, 2 * costFactor)), for: name)
  }

  /// Stores the demand for an entry.
  mutating func set(_ demand: SearchCache.Demand, for name: SearchCacheEntry.Name) {
    if demands[name] == nil, demands.count >= Self.demandLimit { demands = [:] }
    demands[name] = demand
  }
}
