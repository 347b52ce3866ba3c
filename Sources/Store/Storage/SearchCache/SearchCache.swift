import CloudKitModel
import StoreModel
import Synchronization

/// Keeps entries of the value index for the searches to come, as many as there is memory for.
///
/// An entry is worth its memory and the reading of a part of the index when searches would take less
/// time with it. So they tell what they spent for want of one, and when that is a fair part of what it
/// takes to make it, it is made. One that changes faster than it is looked at is given up, and so is
/// the least recently used one when the memory is full. It has to be wanted twice as much before it is made
/// again.
final class SearchCache: Sendable {
  typealias Name = SearchCacheEntry.Name

  fileprivate struct Demand {
    /// Index entries that searches have read for want of the entry.
    var spent = 0.0
    /// How many times as much as usual has to be spent before it is made.
    var reluctance = 1.0
    /// Whether somebody makes it.
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

  /// Memory for all entries, in bytes. Beyond it the least recently used entry is removed.
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

  /// Takes an entry that was made; nil when it was too large, or could not be read.
  func receive(_ entry: SearchCacheEntry?, as name: Name) {
    state.withLock { state in
      state.made += 1
      state.demands[name]?.isOrdered = false
      if entry == nil { state.giveUp(name) }
    }
    if let entry { keep(entry, as: name) }
  }

  /// Keeps an entry, unless it has a newer one, or the entry is larger than the limit.
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

  /// Gives an entry up that too much was changed in since it was looked at.
  func giveUp(_ name: Name) {
    state.withLock { $0.giveUp(name) }
  }

  /// Notes what a search has spent for want of an entry.
  func note(_ spent: Double, forWantOf name: Name) {
    state.withLock { state in
      guard state.entries[name] == nil else { return }
      var demand = state.demands[name] ?? Demand()
      demand.spent += spent
      state.set(demand, for: name)
    }
  }

  /// Whether an entry is to be made that is worth so much effort. Only the first who asks gets yes until
  /// it is there.
  func isWanted(_ name: Name, for effort: Double) -> Bool {
    state.withLock { state in
      let demand = state.demands[name] ?? Demand()
      guard state.entries[name] == nil, !demand.isOrdered,
        demand.spent >= effort * demand.reluctance
      else { return false }
      state.set(Demand(reluctance: demand.reluctance, isOrdered: true), for: name)
      return true
    }
  }
}

extension SearchCache.State {
  /// Entries that are kept in mind without being there; all are forgotten when there are more.
  private static let demandLimit = 10_000
  /// However often an entry was given up, it can be had again.
  private static let greatestReluctance = 64.0

  mutating func giveUp(_ name: SearchCacheEntry.Name) {
    if let entry = entries.removeValue(forKey: name)?.entry {
      size -= entry.size
      givenUp += 1
    }
    let reluctance = demands[name]?.reluctance ?? 1
    set(SearchCache.Demand(reluctance: min(Self.greatestReluctance, 2 * reluctance)), for: name)
  }

  mutating func set(_ demand: SearchCache.Demand, for name: SearchCacheEntry.Name) {
    if demands[name] == nil, demands.count >= Self.demandLimit { demands = [:] }
    demands[name] = demand
  }
}
