import CloudKitModel
import SQLEngine
import StoreModel

/// The zones of other users in the change feeds of shared databases.
///
/// A *mount* is such a zone. It has a row in ``ZoneTable`` too, with the owner's name and a
/// version of the shared database, so the feed is read like any other (``ZoneFeed``). This table
/// has the state of the owner's zone for which the version stands.
///
/// The mounts do not say what the user may see. They follow the user's shares when the feed is
/// read (``MountUpdate``).
struct MountTable: Table {
  let transaction: StoreTransaction

  /// `zone_number` is that in the shared database; `owner_zone` that in the owner's private
  /// database. `seen_version` is the ``SharedZone/visibleVersion()`` that the feed has reported.
  static let definition = [
    """
    CREATE TABLE mounts (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, owner_database BIGINT NOT NULL,
      owner_zone BIGINT NOT NULL, seen_version BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_number))
    """
  ]

  /// A row of the table.
  struct Mount: Equatable {
    var number: Int64
    var zoneID: ZoneID
    var database: DatabaseID
    var ownerZone: Int64
    var seenVersion: Int64
  }

  func mounts(in database: DatabaseID) throws -> [Mount] {
    try connection.rows(sql.mounts, [.id(database)]) {
      Mount(
        number: $0.integer(0), zoneID: ZoneID(zoneName: $0.text(1), ownerName: $0.text(2)),
        database: $0.database(3), ownerZone: $0.integer(4), seenVersion: $0.integer(5))
    }
  }

  /// Saves a mount whose zone has its row.
  func save(_ mount: Mount, in database: DatabaseID) throws {
    try decide(
      sql.save,
      [
        .id(database), .integer(mount.number), .id(mount.database),
        .integer(mount.ownerZone), .integer(mount.seenVersion),
      ])
  }

  /// The zone has to be removed too.
  func remove(_ number: Int64, of database: DatabaseID) throws {
    try decide(sql.remove, [.id(database), .integer(number)])
  }

  struct Statements {
    let mounts: Statement = """
      SELECT mounts.zone_number, zones.zone_name, zones.owner_name, mounts.owner_database,
        mounts.owner_zone, mounts.seen_version
      FROM mounts
      JOIN zones ON zones.database_id = mounts.database_id
        AND zones.zone_number = mounts.zone_number
      WHERE mounts.database_id = $1 ORDER BY mounts.zone_number
      """
    let save: Statement = """
      INSERT INTO mounts (database_id, zone_number, owner_database, owner_zone, seen_version)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (database_id, zone_number) DO UPDATE
      SET owner_database = excluded.owner_database, owner_zone = excluded.owner_zone,
        seen_version = excluded.seen_version
      """
    let remove: Statement = "DELETE FROM mounts WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
}
