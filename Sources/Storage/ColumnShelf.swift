import CloudKitModel
import Synchronization

/// Keeps columns of keys for the searches to come, as many as there is memory for.
///
/// A column is worth its memory and the reading of a whole index when searches would take less time
/// with it. So they tell what they spent for want of one, and when that is a fair part of what it
/// takes to make it, the next of them does. One that changes faster than it is looked at is given up,
/// and one that has to make room; it has to be wanted twice as much before it is made again.
final class ColumnShelf: Sendable {
  struct Name: Hashable {
    var database: DatabaseID
    /// The field's number.
    var field: Int64
  }

  fileprivate struct Demand {
    /// Index entries that searches have read for want of the column.
    var spent = 0.0
    /// How many times as much as usual has to be spent before it is made.
    var reluctance = 1.0
  }

  fileprivate struct Shelf {
    var columns: [Name: (column: KeyColumn, lastUse: Int)] = [:]
    var demands: [Name: Demand] = [:]
    var uses = 0
  }

  /// Memory for all columns, in bytes. Those that were not used for the longest time make room.
  let limit: Int
  private let shelf = Mutex(Shelf())

  init(limit: Int) {
    self.limit = limit
  }

  /// Memory for the columns that are there, in bytes.
  var size: Int { shelf.withLock { $0.columns.values.reduce(0) { $0 + $1.column.size } } }

  func column(_ name: Name) -> KeyColumn? {
    shelf.withLock { shelf in
      shelf.uses += 1
      shelf.columns[name]?.lastUse = shelf.uses
      return shelf.columns[name]?.column
    }
  }

  /// Keeps a column, unless it has a newer one, or no room for it.
  func keep(_ column: KeyColumn, as name: Name) {
    shelf.withLock { shelf in
      if let known = shelf.columns[name]?.column, known.version >= column.version { return }
      shelf.uses += 1
      shelf.columns[name] = (column, shelf.uses)
      var size = shelf.columns.values.reduce(0) { $0 + $1.column.size }
      while size > limit,
        let oldest = shelf.columns.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        shelf.giveUp(oldest.key)
        size -= oldest.value.column.size
      }
    }
  }

  /// Gives a column up that too much was changed in since it was looked at.
  func giveUp(_ name: Name) {
    shelf.withLock { $0.giveUp(name) }
  }

  /// Notes what a search has spent for want of a column.
  func note(_ spent: Double, forWantOf name: Name) {
    shelf.withLock { shelf in
      guard shelf.columns[name] == nil else { return }
      var demand = shelf.demands[name] ?? Demand()
      demand.spent += spent
      shelf.set(demand, for: name)
    }
  }

  /// Whether a column is to be made that is worth so much effort. Only one who asks is told so.
  func isWanted(_ name: Name, for effort: Double) -> Bool {
    shelf.withLock { shelf in
      let demand = shelf.demands[name] ?? Demand()
      guard shelf.columns[name] == nil, demand.spent >= effort * demand.reluctance else {
        return false
      }
      shelf.demands[name]?.spent = 0
      return true
    }
  }
}

extension ColumnShelf.Shelf {
  /// Columns that are kept in mind without being there; all are forgotten when there are more.
  private static let demandLimit = 10_000
  /// However often a column was given up, it can be had again.
  private static let greatestReluctance = 64.0

  mutating func giveUp(_ name: ColumnShelf.Name) {
    columns[name] = nil
    let reluctance = demands[name]?.reluctance ?? 1
    set(ColumnShelf.Demand(reluctance: min(Self.greatestReluctance, 2 * reluctance)), for: name)
  }

  mutating func set(_ demand: ColumnShelf.Demand, for name: ColumnShelf.Name) {
    if demands[name] == nil, demands.count >= Self.demandLimit { demands = [:] }
    demands[name] = demand
  }
}
