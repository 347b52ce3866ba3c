import CloudKitModel
import SQLEngine
import StoreModel

/// The tombstones of zones, for the change feeds of databases: the rows that stay in place of
/// deleted zones.
///
/// A tombstone stays for ``StoreConfiguration/deletionRetention``, or until a zone with the same
/// ID is created. A *purged* zone was deleted outside of the app; while its tombstone stays,
/// requests for it fail with ``ItemFailure/Code/zoneDeleted``.
struct ZoneTombstoneTable: Table {
  let transaction: StoreTransaction

  /// `version` is the number of the deletion.
  static let definition = [
    """
    CREATE TABLE zone_tombstones (
      database_id BIGINT NOT NULL, zone_name TEXT NOT NULL, owner_name TEXT NOT NULL,
      version BIGINT NOT NULL, deleted BIGINT NOT NULL, purged BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_name, owner_name))
    """
  ]

  func remember(
    deletionOf zoneID: ZoneID, isPurge: Bool, in database: DatabaseID, version: Int64,
    at timestamp: Timestamp
  ) throws {
    try decide(
      sql.remember,
      [
        .id(database), .text(zoneID.zoneName), .text(zoneID.ownerName),
        .integer(version), .time(timestamp), .integer(isPurge ? 1 : 0),
      ])
  }

  func forgetDeletion(of zoneID: ZoneID, in database: DatabaseID) throws {
    try decide(sql.forget, [.id(database), .text(zoneID.zoneName), .text(zoneID.ownerName)])
  }

  /// `advice` ends the text for a zone that was not purged.
  func missing(
    _ zoneID: ZoneID, in database: DatabaseID, at address: DatabaseAddress, _ advice: String? = nil
  ) throws -> ItemFailure {
    let isPurged = try connection.first(
      sql.purged, [.id(database), .text(zoneID.zoneName), .text(zoneID.ownerName)]
    ) { $0.integer(0) == 1 }
    guard isPurged == true else { return address.missing(zoneID, advice) }
    return ItemFailure(
      .zoneDeleted, field: "zoneID",
      "zone '\(zoneID)' was deleted for its user, outside of the app")
  }

  func zones(
    deletedIn database: DatabaseID, after version: Int64, limit: Int
  ) throws -> [(change: ZoneChange, version: Int64)] {
    try connection.rows(sql.zones, [.id(database), .integer(version), .count(limit)]) {
      let zoneID = ZoneID(zoneName: $0.text(0), ownerName: $0.text(1))
      return ($0.integer(3) == 1 ? .purged(zoneID) : .deleted(zoneID), $0.integer(2))
    }
  }

  /// The newest old tombstone of each database that has any.
  func old(before horizon: Int64) throws -> [ForgottenVersion] {
    try connection.rows(sql.old, [.integer(horizon)], ForgottenVersion.init(row:))
  }

  /// Raises the databases' `trimmed_version`, which makes older change tokens expire.
  func trim(through versions: [ForgottenVersion]) throws {
    for forgotten in versions {
      try decide(sql.trim, forgotten.arguments)
      try DatabaseTable(transaction: transaction).note(trimmedZones: forgotten)
    }
  }

  struct Statements {
    let remember: Statement = """
      INSERT INTO zone_tombstones (database_id, zone_name, owner_name, version, deleted, purged)
      VALUES ($1, $2, $3, $4, $5, $6)
      """
    let forget: Statement =
      "DELETE FROM zone_tombstones WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3"
    let purged: Statement = """
      SELECT purged FROM zone_tombstones
      WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3
      """
    let zones: Statement = """
      SELECT zone_name, owner_name, version, purged FROM zone_tombstones
      WHERE database_id = $1 AND version > $2 ORDER BY version LIMIT $3
      """
    let old = """
      SELECT database_id, MAX(version) FROM zone_tombstones WHERE deleted < $1
      GROUP BY database_id
      """.except([.everyDatabase, .wholeTable])
    let trim: Statement = "DELETE FROM zone_tombstones WHERE database_id = $1 AND version <= $2"
  }
  static let sql = Statements()
}
