import CloudKitModel
import StoreModel
import Synchronization

/// Keeps extracts of the value index for the searches to come, as many as there is memory for.
///
/// An extract is worth its memory and the reading of a part of the index when searches would take less
/// time with it. So they tell what they spent for want of one, and when that is a fair part of what it
/// takes to make it, it is made. One that changes faster than it is looked at is given up, and one that
/// has to make room; it has to be wanted twice as much before it is made again.
final class ExtractShelf: Sendable {
  typealias Name = IndexExtract.Name

  fileprivate struct Demand {
    /// Index entries that searches have read for want of the extract.
    var spent = 0.0
    /// How many times as much as usual has to be spent before it is made.
    var reluctance = 1.0
    /// Whether somebody makes it.
    var isOrdered = false
  }

  fileprivate struct Shelf {
    var extracts: [Name: (extract: IndexExtract, lastUse: Int)] = [:]
    var demands: [Name: Demand] = [:]
    var uses = 0
    var size = 0
    var made = 0
    var givenUp = 0
  }

  /// Memory for all extracts, in bytes. Those that were not used for the longest time make room.
  let limit: Int
  private let shelf = Mutex(Shelf())

  init(limit: Int) {
    self.limit = limit
  }

  var counts: ExtractCounts {
    shelf.withLock { shelf in
      let columns = shelf.extracts.values.count { $0.extract.column != nil }
      return ExtractCounts(
        columns: columns, lists: shelf.extracts.count - columns, size: shelf.size,
        made: shelf.made, givenUp: shelf.givenUp)
    }
  }

  func extract(_ name: Name) -> IndexExtract? {
    shelf.withLock { shelf in
      shelf.uses += 1
      shelf.extracts[name]?.lastUse = shelf.uses
      return shelf.extracts[name]?.extract
    }
  }

  /// Takes an extract that was made; nil when there was no room for it, or it could not be read.
  func receive(_ extract: IndexExtract?, as name: Name) {
    shelf.withLock { shelf in
      shelf.made += 1
      shelf.demands[name]?.isOrdered = false
      if extract == nil { shelf.giveUp(name) }
    }
    if let extract { keep(extract, as: name) }
  }

  /// Keeps an extract, unless it has a newer one, or no room for it.
  func keep(_ extract: IndexExtract, as name: Name) {
    shelf.withLock { shelf in
      let known = shelf.extracts[name]?.extract
      if let known, known.version >= extract.version { return }
      shelf.uses += 1
      shelf.extracts[name] = (extract, shelf.uses)
      shelf.size += extract.size - (known?.size ?? 0)
      while shelf.size > limit,
        let oldest = shelf.extracts.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        shelf.giveUp(oldest.key)
      }
    }
  }

  /// Gives an extract up that too much was changed in since it was looked at.
  func giveUp(_ name: Name) {
    shelf.withLock { $0.giveUp(name) }
  }

  /// Notes what a search has spent for want of an extract.
  func note(_ spent: Double, forWantOf name: Name) {
    shelf.withLock { shelf in
      guard shelf.extracts[name] == nil else { return }
      var demand = shelf.demands[name] ?? Demand()
      demand.spent += spent
      shelf.set(demand, for: name)
    }
  }

  /// Whether an extract is to be made that is worth so much effort. Only one who asks is told so until
  /// it is there.
  func isWanted(_ name: Name, for effort: Double) -> Bool {
    shelf.withLock { shelf in
      let demand = shelf.demands[name] ?? Demand()
      guard shelf.extracts[name] == nil, !demand.isOrdered,
        demand.spent >= effort * demand.reluctance
      else { return false }
      shelf.set(Demand(reluctance: demand.reluctance, isOrdered: true), for: name)
      return true
    }
  }
}

extension ExtractShelf.Shelf {
  /// Extracts that are kept in mind without being there; all are forgotten when there are more.
  private static let demandLimit = 10_000
  /// However often an extract was given up, it can be had again.
  private static let greatestReluctance = 64.0

  mutating func giveUp(_ name: IndexExtract.Name) {
    if let extract = extracts.removeValue(forKey: name)?.extract {
      size -= extract.size
      givenUp += 1
    }
    let reluctance = demands[name]?.reluctance ?? 1
    set(ExtractShelf.Demand(reluctance: min(Self.greatestReluctance, 2 * reluctance)), for: name)
  }

  mutating func set(_ demand: ExtractShelf.Demand, for name: IndexExtract.Name) {
    if demands[name] == nil, demands.count >= Self.demandLimit { demands = [:] }
    demands[name] = demand
  }
}
