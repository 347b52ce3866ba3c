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
    for (zone, version) in gathered.zoneVersions {
      try connection.runLater(
        "UPDATE zones SET version = $3 WHERE database_id = $1 AND zone_number = $2",
        [.integer(zone.database.rawValue), .integer(zone.number), .integer(version)])
    }
    try writeIndexChanges()
    gathered.removeAll()
  }

  /// The numbers for a modification; those that it leaves go back into ``GatheredWrites/numbers``.
  func numbers(of database: DatabaseID, count: Int) throws -> NumberSupply {
    var numbers = gathered.numbers[database] ?? NumberSupply(of: database)
    try numbers.reserve(count, from: self)
    return numbers
  }

  /// As ``zoneNumber(of:in:)``, asked once for all modifications that share the transaction.
  func sharedZoneNumber(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64? {
    let place = GatheredWrites.ZonePlace(zoneID: zoneID, database: database)
    if let known = gathered.zoneNumbers[place] { return known }
    let number = try ZoneTable(transaction: self).number(of: zoneID, in: database)
    if let number { gathered.zoneNumbers[place] = number }
    return number
  }

  /// Forgets the deletion of a record that is made again.
  func removeTombstone(
    of recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws {
    let zone = Catalog.ZoneKey(database: database, number: zoneNumber)
    if gathered.zonesWithoutTombstones.contains(zone) { return }
    let hasTombstones = try connection.first(
      "SELECT 1 FROM tombstones WHERE database_id = $1 AND zone_number = $2 LIMIT 1",
      [.integer(database.rawValue), .integer(zoneNumber)]
    ) { _ in true }
    guard hasTombstones != nil else {
      gathered.zonesWithoutTombstones.insert(zone)
      return
    }
    try connection.run(
      "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2 AND record_name = $3",
      [.integer(database.rawValue), .integer(zoneNumber), .text(recordName)])
  }

  private func writeIndexChanges() throws {
    let index = gathered.index
    var additions: [IndexChanges.Change] = []
    additions.reserveCapacity(Self.rowsTogether)
    try index.forEachInOrder { change in
      guard change.isAddition else { return try remove(change, of: index) }
      additions.append(change)
      guard additions.count == Self.rowsTogether else { return }
      try add(additions[...], of: index, by: Self.insertTogether)
      additions.removeAll(keepingCapacity: true)
    }
    for place in additions.indices {
      try add(additions[place...place], of: index, by: Self.insertOne)
    }
  }

  /// So many rows a statement inserts where there are as many: what it takes to start and to end one
  /// is a third of what a row takes.
  private static let rowsTogether = 32
  private static let insertTogether = insertion(ofRows: rowsTogether)
  private static let insertOne = insertion(ofRows: 1)

  private static func insertion(ofRows count: Int) -> String {
    let rows = (0..<count).map { row in
      "(" + (1...5).map { "$\(5 * row + $0)" }.joined(separator: ", ") + ")"
    }
    return """
      INSERT INTO value_index
        (database_id, field_number, value_key, record_number, zone_number)
      VALUES \(rows.joined(separator: ", "))
      ON CONFLICT (database_id, field_number, value_key, record_number) DO NOTHING
      """
  }

  private func add(
    _ changes: ArraySlice<IndexChanges.Change>, of index: IndexChanges, by statement: String
  ) throws {
    arguments.removeAll()
    for change in changes {
      append(change, of: index)
      arguments.append(change.zoneNumber)
    }
    try connection.runLater(statement, arguments)
  }

  private func remove(_ change: IndexChanges.Change, of index: IndexChanges) throws {
    arguments.removeAll()
    append(change, of: index)
    try connection.runLater(
      """
      DELETE FROM value_index WHERE database_id = $1 AND field_number = $2
        AND value_key = $3 AND record_number = $4
      """, arguments)
  }

  private func append(_ change: IndexChanges.Change, of index: IndexChanges) {
    arguments.append(change.database)
    arguments.append(change.fieldNumber)
    arguments.append(bytes: index.keys[change.start..<change.start + change.count])
    arguments.append(change.recordNumber)
  }
}
