import CloudKitModel
import StoreModel

/// The writes that the record modifications of one transaction collect here, to be written once for
/// all of them. The value also keeps the results of lookups that the modifications share.
///
/// The jobs of record modifications have ``StoreJob/gathersWrites``. Before any other job, and
/// before the commit, the writer writes what was gathered and clears the value. So no other job
/// reads zones or the value index without these writes.
struct GatheredWrites {
  /// The name of a zone in a database: the key of a lookup that modifications share.
  struct ZonePlace: Hashable {
    var zoneID: ZoneID
    var database: DatabaseID
  }

  /// The gathered writes at the time when a savepoint was set.
  struct Mark {
    fileprivate var index: IndexChanges.Mark
    fileprivate var zoneVersions: [Catalog.ZoneKey: Int64]
    fileprivate var numbers: [DatabaseID: NumberSupply]
  }

  /// The rows of the value index to insert and delete.
  var index = IndexChanges()
  /// The version of the latest change of each changed zone. The zone's row gets this version before
  /// the commit.
  var zoneVersions: [Catalog.ZoneKey: Int64] = [:]
  /// The numbers that were drawn from each database's sequence and not yet used.
  var numbers: [DatabaseID: NumberSupply] = [:]
  /// The numbers of zones that were looked up. A missing zone is looked up again.
  var zoneNumbers: [ZonePlace: Int64] = [:]
  /// The zones known to have no tombstones (rows of deleted records).
  var zonesWithoutTombstones: Set<Catalog.ZoneKey> = []

  /// The number of gathered index changes at which the writer writes them. The limit bounds the
  /// memory of a large commit.
  private static let indexLimit = 100_000

  /// Whether so many index changes wait that the writer must write them before the next job.
  var isFull: Bool { index.count >= Self.indexLimit }

  /// The present state, for ``restore(_:)`` after a rollback to a savepoint.
  var mark: Mark { Mark(index: index.mark, zoneVersions: zoneVersions, numbers: numbers) }

  /// Removes the writes gathered since the mark, after a rollback to the mark's savepoint. The
  /// rollback may have restored tombstones, so ``zonesWithoutTombstones`` is emptied.
  /// ``zoneNumbers`` stays, because record modifications neither create nor delete zones.
  mutating func restore(_ mark: Mark) {
    index.restore(mark.index)
    zoneVersions = mark.zoneVersions
    numbers = mark.numbers
    zonesWithoutTombstones.removeAll(keepingCapacity: true)
  }

  /// Removes everything, after the writer has written it. The memory is kept for the next jobs.
  mutating func removeAll() {
    index.removeAll()
    zoneVersions.removeAll(keepingCapacity: true)
    numbers.removeAll(keepingCapacity: true)
    zoneNumbers.removeAll(keepingCapacity: true)
    zonesWithoutTombstones.removeAll(keepingCapacity: true)
  }
}

extension StoreTransaction {
  /// Writes the gathered changes: the versions of zones, then the value index. Then it clears the
  /// gathered state.
  ///
  /// Do not call it under a savepoint that was set after gathering began: a rollback to that
  /// savepoint would lose writes of earlier jobs.
  func writeGathered() throws {
    try ZoneTable(transaction: self).raiseVersions(gathered.zoneVersions)
    try ValueIndexTable(transaction: self).apply(gathered.index)
    gathered.removeAll()
  }

  /// Returns a supply with at least `count` numbers for a modification. It begins with the numbers
  /// that an earlier modification of the transaction left.
  ///
  /// The modification returns unused numbers to ``GatheredWrites/numbers``.
  ///
  /// - Throws: the errors of ``DatabaseTable/draw(_:from:)``.
  func numbers(of database: DatabaseID, count: Int) throws -> NumberSupply {
    var numbers = gathered.numbers[database] ?? NumberSupply(of: database)
    try numbers.reserve(count, from: self)
    return numbers
  }

  /// Returns the number of a zone; nil if the database has no such zone. The number is looked up
  /// once for all modifications of the transaction.
  func sharedZoneNumber(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64? {
    let place = GatheredWrites.ZonePlace(zoneID: zoneID, database: database)
    if let known = gathered.zoneNumbers[place] { return known }
    let number = try ZoneTable(transaction: self).number(of: zoneID, in: database)
    if let number { gathered.zoneNumbers[place] = number }
    return number
  }
}
