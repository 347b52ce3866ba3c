import CloudKitModel
import SQLEngine
import StoreModel

/// The `deleteSelf` references, by their targets. A deletion finds the records to delete with its
/// record here (``RecordTable/holders(ofReferencesTo:inZone:of:)``).
///
/// `target_name` is the name of the target, which need not exist. `holder_number` is the number of
/// the record with the reference. Both are in the same zone. A record with several references to
/// one target has one row.
struct ReferenceTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// The table of references, in the order of their targets.
  static let definition = [
    """
    CREATE TABLE reference_edges (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, target_name TEXT NOT NULL,
      holder_number BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_number, target_name, holder_number)) /*clustered*/
    """
  ]

  /// Adds a record's reference.
  func add(to target: String, of stored: StoredRecord, in database: DatabaseID) throws {
    try connection.run(
      """
      INSERT INTO reference_edges (database_id, zone_number, target_name, holder_number)
      VALUES ($1, $2, $3, $4)
      """, edge(to: target, of: stored, in: database))
  }

  /// Removes a record's reference.
  func remove(
    to target: String, of stored: StoredRecord, in database: DatabaseID
  ) throws {
    try connection.run(
      """
      DELETE FROM reference_edges WHERE database_id = $1 AND zone_number = $2
        AND target_name = $3 AND holder_number = $4
      """, edge(to: target, of: stored, in: database))
  }

  /// Returns the number of references to the record of this name.
  ///
  /// It counts the records that refer to the target.
  func count(to target: String, inZone zone: Int64, of database: DatabaseID) throws -> Int64? {
    try connection.first(
      """
      SELECT COUNT(*) FROM reference_edges
      WHERE database_id = $1 AND zone_number = $2 AND target_name = $3
      """, [.integer(database.rawValue), .integer(zone), .text(target)]
    ) { $0.integer(0) }
  }

  /// Removes all references of a zone that is deleted.
  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM reference_edges WHERE database_id = $1 AND zone_number = $2",
      [.integer(database.rawValue), .integer(zone)])
  }

  /// Returns the arguments of a row: its primary key.
  private func edge(
    to target: String, of stored: StoredRecord, in database: DatabaseID
  ) -> [SQLValue] {
    [
      .integer(database.rawValue), .integer(stored.zoneNumber), .text(target),
      .integer(stored.number),
    ]
  }
}
