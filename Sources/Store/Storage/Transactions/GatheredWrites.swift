import CloudKitModel
import StoreModel

/// What the record modifications of one transaction leave to be written once for all of them, and
/// what one of them learnt that the next need not ask again.
///
/// Only such jobs run while it holds something (``StoreJob/gathersWrites``); before any other, and
/// before the commit, all of it is written and forgotten. So nobody sees a zone or the value index
/// without it.
struct GatheredWrites {
  struct ZonePlace: Hashable {
    var zoneID: ZoneID
    var database: DatabaseID
  }

  /// What there was when a savepoint was set.
  struct Mark {
    fileprivate var index: IndexChanges.Mark
    fileprivate var zoneVersions: [Catalog.ZoneKey: Int64]
    fileprivate var numbers: [DatabaseID: NumberSupply]
  }

  var index = IndexChanges()
  /// The latest change of each zone.
  var zoneVersions: [Catalog.ZoneKey: Int64] = [:]
  /// Numbers that were drawn and are not used up.
  var numbers: [DatabaseID: NumberSupply] = [:]
  var zoneNumbers: [ZonePlace: Int64] = [:]
  /// Zones in which no record was deleted, as far as is remembered.
  var zonesWithoutTombstones: Set<Catalog.ZoneKey> = []

  /// So many changes of the index are written before there are more.
  private static let indexLimit = 100_000

  var isFull: Bool { index.count >= Self.indexLimit }

  var mark: Mark { Mark(index: index.mark, zoneVersions: zoneVersions, numbers: numbers) }

  /// Drops what was gathered since the mark, after its savepoint was rolled back. That may have
  /// brought tombstones back; zones are neither made nor deleted under it.
  mutating func restore(_ mark: Mark) {
    index.restore(mark.index)
    zoneVersions = mark.zoneVersions
    numbers = mark.numbers
    zonesWithoutTombstones.removeAll(keepingCapacity: true)
  }

  mutating func removeAll() {
    index.removeAll()
    zoneVersions.removeAll(keepingCapacity: true)
    numbers.removeAll(keepingCapacity: true)
    zoneNumbers.removeAll(keepingCapacity: true)
    zonesWithoutTombstones.removeAll(keepingCapacity: true)
  }
}

extension StoreTransaction {
  /// Writes what was gathered. Not under a savepoint that was set since the first of it was.
  func writeGathered() throws {
    try ZoneTable(transaction: self).raiseVersions(gathered.zoneVersions)
    try ValueIndexTable(transaction: self).apply(gathered.index)
    gathered.removeAll()
  }

  /// The numbers for a modification; those that it leaves go back into ``GatheredWrites/numbers``.
  func numbers(of database: DatabaseID, count: Int) throws -> NumberSupply {
    var numbers = gathered.numbers[database] ?? NumberSupply(of: database)
    try numbers.reserve(count, from: self)
    return numbers
  }

  /// The number of a zone, asked once for all modifications that share the transaction.
  func sharedZoneNumber(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64? {
    let place = GatheredWrites.ZonePlace(zoneID: zoneID, database: database)
    if let known = gathered.zoneNumbers[place] { return known }
    let number = try ZoneTable(transaction: self).number(of: zoneID, in: database)
    if let number { gathered.zoneNumbers[place] = number }
    return number
  }
}
