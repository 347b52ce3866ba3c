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

  /// Deletes a record's tombstone, because the record is created again.
  ///
  /// The method runs for each created record, and most zones have no tombstones. So the method
  /// first looks for any tombstone of the zone. If there is none, the transaction stores this in
  /// ``GatheredWrites/zonesWithoutTombstones``, and later calls run no statement.
  func remove(
    recordNamed recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws {
    let zone = Catalog.ZoneKey(database: database, number: zoneNumber)
    if transaction.gathered.zonesWithoutTombstones.contains(zone) { return }
    let hasTombstones = try connection.first(
      "SELECT 1 FROM tombstones WHERE database_id = $1 AND zone_number = $2 LIMIT 1",
      [.integer(database.rawValue), .integer(zoneNumber)]
    ) { _ in true }
    guard hasTombstones != nil else {
      transaction.gathered.zonesWithoutTombstones.insert(zone)
      return
    }
    try connection.run(
      "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2 AND record_name = $3",
      [.integer(database.rawValue), .integer(zoneNumber), .text(recordName)])
  }

  /// Adds a record's tombstone. If the record's type never existed in the container's environment,
  /// the statement inserts no row. A type that an administrator removed still has its row, so its
  /// records get tombstones.
  ///
  /// - Parameters:
  ///   - version: the zone's version at the deletion.
  ///   - timestamp: the time of the deletion. The retention begins at this time.
  func add(
    _ stored: StoredRecord, in database: DatabaseID, at address: DatabaseAddress, version: Int64,
    timestamp: Timestamp
  ) throws {
    try connection.run(
      """
      INSERT INTO tombstones (database_id, zone_number, record_name, type_number, version,
        deleted)
      SELECT $1, $2, $3, type_number, $4, $5 FROM record_types
      WHERE container = $6 AND environment = $7 AND name = $8
      """,
      [
        .integer(database.rawValue), .integer(stored.zoneNumber),
        .text(stored.record.recordID.recordName), .integer(version),
        .integer(timestamp.milliseconds), .text(address.container),
        .text(address.environment.rawValue), .text(stored.record.recordType),
      ])
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
