import CloudKitModel
import SQLEngine
import StoreModel

/// The tombstones of records, for change feeds.
///
/// A tombstone is a deleted record's name, type and version. It stays for
/// ``StoreConfiguration/deletionRetention``, or until a record with its name is created again.
struct TombstoneTable: Table {
  let transaction: StoreTransaction

  /// `version` is the zone's version at the deletion.
  static let definition = [
    """
    CREATE TABLE tombstones (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, record_name TEXT NOT NULL,
      type_number BIGINT NOT NULL, version BIGINT NOT NULL, deleted BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_number, record_name)) /*clustered*/
    """,
    "CREATE INDEX tombstones_by_version ON tombstones (database_id, zone_number, version)",
  ]

  /// The newest tombstone of a zone that retention deletes, together with all older ones.
  struct Cut: Sendable {
    var database: Int64
    var zone: Int64
    var version: Int64
  }

  /// Most zones have no tombstones, so the method first looks for any of the zone.
  func remove(
    recordNamed recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws {
    let key = WriteSet.RecordKey(database: database, zone: zoneNumber, name: recordName)
    if transaction.writes.tombstones[key] == nil {
      let zone = Catalog.ZoneKey(database: database, number: zoneNumber)
      if transaction.writes.zonesWithoutTombstones.contains(zone) { return }
      let place: [SQLValue] = [.id(database), .integer(zoneNumber)]
      let (hasAny, tombstone) = try transaction.besidesWriteSet {
        guard try connection.exists(sql.any, place) else {
          return (false, nil as WriteSet.Tombstone?)
        }
        let tombstone = try connection.first(sql.ofName, place + [.text(recordName)]) {
          WriteSet.Tombstone(typeNumber: $0.integer(0), version: $0.integer(1), deleted: $0.time(2))
        }
        return (true, tombstone)
      }
      guard hasAny else {
        transaction.writes.zonesWithoutTombstones.insert(zone)
        return
      }
      transaction.writes.tombstones.note(tombstone, for: key)
    }
    guard transaction.writes.tombstones[key]?.row != nil else { return }
    transaction.writes.tombstones.decide(nil, for: key)
  }

  func add(
    _ stored: StoredRecord, in database: DatabaseID, version: Int64, timestamp: Timestamp
  ) {
    let key = WriteSet.RecordKey(
      database: database, zone: stored.zoneNumber, name: stored.record.recordID.recordName)
    transaction.writes.tombstones.decide(
      WriteSet.Tombstone(typeNumber: stored.typeNumber, version: version, deleted: timestamp),
      for: key)
  }

  func writeDecided() throws {
    let changes = transaction.writes.tombstones.takeChanges()
    var deletions = RowInsertion(sql.deletion)
    var insertions = RowInsertion(sql.insertion)
    for (key, stored, _) in changes where stored != nil {
      try deletions.add(in: connection) {
        $0.append(key.database.rawValue, key.zone)
        $0.append(key.name)
      }
    }
    try deletions.finish(in: connection)
    for (key, _, tombstone) in changes {
      guard let tombstone else { continue }
      try insertions.add(in: connection) {
        $0.append(key.database.rawValue, key.zone)
        $0.append(key.name)
        $0.append(tombstone.typeNumber, tombstone.version)
        $0.append(tombstone.deleted.milliseconds)
      }
    }
    try insertions.finish(in: connection)
  }

  /// Returns the deletions between two versions, both exclusive, for a feed.
  func candidates(
    inZone zone: Int64, of database: DatabaseID, above low: Int64, below high: Int64,
    ascending: Bool, limit: Int
  ) throws -> [RecordFeed.Candidate] {
    try connection.rows(
      ascending ? sql.oldest : sql.newest,
      [.id(database), .integer(zone), .integer(low), .integer(high), .count(limit)]
    ) {
      RecordFeed.Candidate(
        version: $0.integer(0), typeNumber: $0.integer(1),
        subject: .tombstone(recordName: $0.text(2)))
    }
  }

  /// Returns for each zone the newest tombstone from before `horizon`, in milliseconds since 1970.
  ///
  /// - Complexity: O(*n*) for *n* tombstones of the store.
  func old(before horizon: Int64) throws -> [Cut] {
    try connection.rows(sql.old, [.integer(horizon)]) {
      Cut(database: $0.integer(0), zone: $0.integer(1), version: $0.integer(2))
    }
  }

  /// Deletes a batch of a zone's tombstones up to a version, and raises the zone's
  /// `trimmed_version`, which makes older change tokens expire. Both happen in one transaction, so
  /// a reader who has not read a deleted tombstone always gets an error.
  ///
  /// - Returns: whether there may be more tombstones to delete.
  func trim(through cut: Cut) throws -> Bool {
    let place: [SQLValue] = [.integer(cut.database), .integer(cut.zone), .integer(cut.version)]
    try ZoneTable(transaction: transaction).note(
      trimmedVersion: cut.version, ofZone: cut.zone, in: DatabaseID(rawValue: cut.database))
    let versions = try connection.integers(sql.oldVersions, place + [.integer(Retention.batch)])
    guard let last = versions.last else { return false }
    try decide(sql.trim, [.integer(cut.database), .integer(cut.zone), .integer(last)])
    return versions.count == Int(Retention.batch)
  }

  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(zone)])
  }

  struct Statements {
    let oldest = candidates("ASC")
    let newest = candidates("DESC")
    let any: Statement =
      "SELECT 1 FROM tombstones WHERE database_id = $1 AND zone_number = $2 LIMIT 1"
    let ofName: Statement = """
      SELECT type_number, version, deleted FROM tombstones
      WHERE database_id = $1 AND zone_number = $2 AND record_name = $3
      """
    let insertion = RowStatement(
      inserting:
        "tombstones (database_id, zone_number, record_name, type_number, version, deleted)",
      [.integer, .integer, .text, .integer, .integer, .integer])
    let deletion = RowStatement(
      deletingFrom: "tombstones",
      by: ["database_id": .integer, "zone_number": .integer, "record_name": .text])
    let old = """
      SELECT database_id, zone_number, MAX(version) FROM tombstones WHERE deleted < $1
      GROUP BY database_id, zone_number
      """.except([.everyDatabase, .wholeTable])
    let oldVersions: Statement = """
      SELECT version FROM tombstones
      WHERE database_id = $1 AND zone_number = $2 AND version <= $3 ORDER BY version LIMIT $4
      """
    let trim: Statement =
      "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2 AND version <= $3"
    let removeAll: Statement = "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()

  private static func candidates(_ order: String) -> Statement {
    """
    SELECT version, type_number, record_name FROM tombstones
    WHERE database_id = $1 AND zone_number = $2 AND version > $3 AND version < $4
    ORDER BY version \(order) LIMIT $5
    """
  }
}
