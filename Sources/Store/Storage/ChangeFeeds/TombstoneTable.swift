import CloudKitModel
import SQLEngine
import StoreModel

/// The tombstones of records, for change feeds.
///
/// A tombstone is a deleted record's name, type and version, without its content. A tombstone stays
/// for ``StoreConfiguration/deletionRetention``, or until a record with its name is created again.
struct TombstoneTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// `version` is the zone's version at the deletion. `deleted` is the time of the deletion in
  /// milliseconds since 1970. Feeds read the rows by ``versionIndex``; the creation of a record
  /// finds the row of its name by the primary key.
  static let definition = [
    """
    CREATE TABLE tombstones (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, record_name TEXT NOT NULL,
      type_number BIGINT NOT NULL, version BIGINT NOT NULL, deleted BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_number, record_name)) /*clustered*/
    """
  ]

  /// The index for change feeds. The schema creates it after the indexes of other tables.
  static let versionIndex = [
    "CREATE INDEX tombstones_by_version ON tombstones (database_id, zone_number, version)"
  ]

  /// The newest tombstone of a zone that is to be deleted by retention.
  ///
  /// All older tombstones of the zone are deleted too.
  struct Cut: Sendable {
    var database: Int64
    var zone: Int64
    var version: Int64
  }

  /// Decides that a record has no tombstone, because it is created again.
  ///
  /// Most zones have no tombstones. So the method first looks for any tombstone of the zone, once in
  /// a transaction.
  func remove(
    recordNamed recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws {
    let key = WriteSet.RecordKey(database: database, zone: zoneNumber, name: recordName)
    if transaction.writes.tombstones[key] == nil {
      let zone = Catalog.ZoneKey(database: database, number: zoneNumber)
      if transaction.writes.zonesWithoutTombstones.contains(zone) { return }
      let place: [SQLValue] = [.integer(database.rawValue), .integer(zoneNumber)]
      let (hasAny, tombstone) = try transaction.besidesWriteSet {
        let hasAny = try connection.first(
          "SELECT 1 FROM tombstones WHERE database_id = $1 AND zone_number = $2 LIMIT 1", place
        ) { _ in true }
        guard hasAny != nil else { return (false, nil as WriteSet.Tombstone?) }
        let tombstone = try connection.first(
          """
          SELECT type_number, version, deleted FROM tombstones
          WHERE database_id = $1 AND zone_number = $2 AND record_name = $3
          """, place + [.text(recordName)]
        ) {
          WriteSet.Tombstone(
            typeNumber: $0.integer(0), version: $0.integer(1),
            deleted: Timestamp(milliseconds: $0.integer(2)))
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

  /// Decides on a record's tombstone.
  ///
  /// - Parameters:
  ///   - version: the zone's version at the deletion.
  ///   - timestamp: the time of the deletion. The retention begins at this time.
  func add(
    _ stored: StoredRecord, in database: DatabaseID, version: Int64, timestamp: Timestamp
  ) {
    let key = WriteSet.RecordKey(
      database: database, zone: stored.zoneNumber, name: stored.record.recordID.recordName)
    transaction.writes.tombstones.decide(
      WriteSet.Tombstone(typeNumber: stored.typeNumber, version: version, deleted: timestamp),
      for: key)
  }

  /// Writes the tombstones that were decided.
  func writeDecided() throws {
    let changes = transaction.writes.tombstones.takeChanges()
    var (deletions, insertions) = (RowInsertion(Self.deletion), RowInsertion(Self.insertion))
    for (key, stored, _) in changes where stored != nil {
      try deletions.add(in: connection) {
        $0.append(key.database.rawValue)
        $0.append(key.zone)
        $0.append(key.name)
      }
    }
    try deletions.finish(in: connection)
    for (key, _, tombstone) in changes {
      guard let tombstone else { continue }
      try insertions.add(in: connection) {
        $0.append(key.database.rawValue)
        $0.append(key.zone)
        $0.append(key.name)
        $0.append(tombstone.typeNumber)
        $0.append(tombstone.version)
        $0.append(tombstone.deleted.milliseconds)
      }
    }
    try insertions.finish(in: connection)
  }

  private static let insertion = RowStatement(
    inserting: """
      tombstones (database_id, zone_number, record_name, type_number, version, deleted)
      """, [.integer, .integer, .text, .integer, .integer, .integer])

  private static let deletion = RowStatement(
    "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2 AND record_name = $3",
    [.integer, .integer, .text]
  ) {
    """
    DELETE FROM tombstones USING \($0)
    WHERE database_id = c1 AND zone_number = c2 AND record_name = c3 COLLATE "C"
    """
  }

  /// Returns the deletions between two versions, for a feed.
  ///
  /// - Parameters:
  ///   - low: the version above which deletions are returned, exclusive.
  ///   - high: the version below which deletions are returned, exclusive.
  ///   - order: `ASC` or `DESC`, by version.
  ///   - limit: the most deletions returned.
  func candidates(
    inZone zone: Int64, of database: DatabaseID, above low: Int64, below high: Int64,
    order: String, limit: Int
  ) throws -> [RecordFeed.Candidate] {
    try connection.rows(
      """
      SELECT version, type_number, record_name FROM tombstones
      WHERE database_id = $1 AND zone_number = $2 AND version > $3 AND version < $4
      ORDER BY version \(order) LIMIT $5
      """,
      [
        .integer(database.rawValue), .integer(zone), .integer(low), .integer(high),
        .integer(Int64(limit)),
      ]
    ) {
      RecordFeed.Candidate(
        version: $0.integer(0), typeNumber: $0.integer(1),
        subject: .tombstone(recordName: $0.text(2)))
    }
  }

  /// Returns the newest old tombstone of each zone that has old tombstones.
  ///
  /// - Parameter horizon: milliseconds since 1970. A tombstone is old if its deletion was before
  ///   this time.
  /// - Complexity: O(*n*) for *n* tombstones of the store.
  func old(before horizon: Int64) throws -> [Cut] {
    try connection.rows(
      """
      SELECT database_id, zone_number, MAX(version) FROM tombstones WHERE deleted < $1
      GROUP BY database_id, zone_number
      """, [.integer(horizon)]
    ) { Cut(database: $0.integer(0), zone: $0.integer(1), version: $0.integer(2)) }
  }

  /// Deletes a batch of a zone's tombstones up to a version.
  ///
  /// The method also raises the zone's `trimmed_version`, which makes older change tokens expire.
  /// Both happen in one transaction. So a reader who has not read a deleted tombstone always gets
  /// an error.
  ///
  /// - Returns: whether there may be more tombstones to delete. A batch has at most
  ///   ``Retention/batch``.
  func trim(through cut: Cut) throws -> Bool {
    let place: [SQLValue] = [.integer(cut.database), .integer(cut.zone), .integer(cut.version)]
    try ZoneTable(transaction: transaction).note(
      trimmedVersion: cut.version, ofZone: cut.zone, in: DatabaseID(rawValue: cut.database))
    let versions = try connection.rows(
      """
      SELECT version FROM tombstones
      WHERE database_id = $1 AND zone_number = $2 AND version <= $3 ORDER BY version LIMIT $4
      """, place + [.integer(Retention.batch)]
    ) { $0.integer(0) }
    guard let last = versions.last else { return false }
    try connection.run(
      "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2 AND version <= $3",
      [.integer(cut.database), .integer(cut.zone), .integer(last)])
    return versions.count == Int(Retention.batch)
  }

  /// Deletes all tombstones of a zone that is being deleted.
  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2",
      [.integer(database.rawValue), .integer(zone)])
  }
}
