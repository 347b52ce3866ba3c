import CloudKitModel
import StoreModel

/// Writes that the record modifications of one transaction leave to be written once for all of
/// them, and lookups that they share.
///
/// Only such jobs run while it holds writes (``StoreJob/gathersWrites``). Before any other job, and
/// before the commit, all of it is written and cleared. So no job reads a zone or the value index
/// without these writes.
struct GatheredWrites {
  struct ZonePlace: Hashable {
    var zoneID: ZoneID
    var database: DatabaseID
  }

  /// The state when a savepoint was set.
  struct Mark {
    fileprivate var index: IndexChanges.Mark
    fileprivate var zoneVersions: [Catalog.ZoneKey: Int64]
    fileprivate var numbers: [DatabaseID: NumberSupply]
  }

  var index = IndexChanges()
  /// The latest change of each zone.
  var zoneVersions: [Catalog.ZoneKey: Int64] = [:]
  /// Numbers that were drawn and not yet used.
  var numbers: [DatabaseID: NumberSupply] = [:]
  var zoneNumbers: [ZonePlace: Int64] = [:]
  /// Zones known to have no tombstones.
  var zonesWithoutTombstones: Set<Catalog.ZoneKey> = []

  /// The number of index changes at which they are written.
  private static let indexLimit = 100_000

  var isFull: Bool { index.count >= Self.indexLimit }

  var mark: Mark { Mark(index: index.mark, zoneVersions: zoneVersions, numbers: numbers) }

  /// Drops the writes gathered since the mark, after its savepoint was rolled back. The rollback
  /// may have restored tombstones. Zones are neither created nor deleted under a savepoint.
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
  /// Writes what was gathered. Do not call it under a savepoint that was set after gathering began.
  func writeGathered() throws {
    try ZoneTable(transaction: self).raiseVersions(gathered.zoneVersions)
    try ValueIndexTable(transaction: self).apply(gathered.index)
    gathered.removeAll()
  }

  /// The numbers for a modification, which returns unused ones to ``GatheredWrites/numbers``.
  func numbers(of database: DatabaseID, count: Int) throws -> NumberSupply {
    var numbers = gathered.numbers[database] ?? NumberSupply(of: database)
    try numbers.reserve(count, from: self)
    return numbers
  }

  /// The number of a zone, looked up once for all modifications of the transaction.
  func sharedZoneNumber(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64? {
    let place = GatheredWrites.ZonePlace(zoneID: zoneID, database: database)
    if let known = gathered.zoneNumbers[place] { return known }
    let number = try ZoneTable(transaction: self).number(of: zoneID, in: database)
    if let number { gathered.zoneNumbers[place] = number }
    return number
  }
}
