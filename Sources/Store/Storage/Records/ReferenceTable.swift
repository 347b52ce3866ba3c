import CloudKitModel
import SQLEngine
import StoreModel

/// The table of `deleteSelf` references, in the order of their targets. When a record is deleted,
/// the records that refer to it are found here and deleted too
/// (``RecordTable/holders(ofReferencesTo:inZone:of:)``).
///
/// `target_name` need not exist. The *holder* (`holder_number`) has the reference, in the same
/// zone. A holder with several references to one target has one row.
struct ReferenceTable: Table {
  let transaction: StoreTransaction

  static let definition = [
    """
    CREATE TABLE reference_edges (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, target_name TEXT NOT NULL,
      holder_number BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_number, target_name, holder_number)) /*clustered*/
    """
  ]

  func add(to target: String, of stored: StoredRecord, in database: DatabaseID) throws {
    try decide(sql.add, edge(to: target, of: stored, in: database))
    count(1, to: target, inZone: stored.zoneNumber, of: database)
  }

  func remove(
    to target: String, of stored: StoredRecord, in database: DatabaseID
  ) throws {
    try decide(sql.remove, edge(to: target, of: stored, in: database))
    count(-1, to: target, inZone: stored.zoneNumber, of: database)
  }

  private func count(
    _ change: Int, to target: String, inZone zone: Int64, of database: DatabaseID
  ) {
    let key = WriteSet.RecordKey(database: database, zone: zone, name: target)
    let known = transaction.writes.referenceCounts[key]?.row
    transaction.writes.referenceCounts.decide(known.map { $0 + change }, for: key)
  }

  func count(to target: String, inZone zone: Int64, of database: DatabaseID) throws -> Int {
    let key = WriteSet.RecordKey(database: database, zone: zone, name: target)
    let entry = transaction.writes.referenceCounts[key]
    if let known = entry?.row { return known }
    func stored() throws -> Int {
      try connection.count(sql.count, [.id(database), .integer(zone), .text(target)])
    }
    // Decided statements change only references to the targets in the overlay.
    let count = entry == nil ? try transaction.besidesDecisions(stored) : try stored()
    transaction.writes.referenceCounts.note(count, for: key)
    return count
  }

  func tops(
    ofHoldersTo target: String, inZone zone: Int64, of database: DatabaseID, limit: Int
  ) throws -> [Int64] {
    try connection.integers(
      sql.tops, [.id(database), .integer(zone), .text(target), .count(limit)])
  }

  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(zone)])
  }

  private func edge(
    to target: String, of stored: StoredRecord, in database: DatabaseID
  ) -> [SQLValue] {
    [
      .id(database), .integer(stored.zoneNumber), .text(target),
      .integer(stored.number),
    ]
  }

  struct Statements {
    let add: Statement = """
      INSERT INTO reference_edges (database_id, zone_number, target_name, holder_number)
      VALUES ($1, $2, $3, $4)
      """
    let remove: Statement = """
      DELETE FROM reference_edges WHERE database_id = $1 AND zone_number = $2
        AND target_name = $3 AND holder_number = $4
      """
    let count: Statement = """
      SELECT COUNT(*) FROM reference_edges
      WHERE database_id = $1 AND zone_number = $2 AND target_name = $3
      """
    let tops: Statement = """
      SELECT COALESCE(hierarchy.top_number, 0) FROM reference_edges
      LEFT JOIN hierarchy ON hierarchy.database_id = reference_edges.database_id
        AND hierarchy.record_number = reference_edges.holder_number
      WHERE reference_edges.database_id = $1 AND reference_edges.zone_number = $2
        AND reference_edges.target_name = $3
      LIMIT $4
      """
    let removeAll: Statement =
      "DELETE FROM reference_edges WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
}

extension Record {
  /// The targets of `deleteSelf` references. If one is deleted, this record is deleted with it.
  var deleteSelfTargets: Set<String> {
    var targets: Set<String> = []
    for value in fields.values {
      for reference in value.references where reference.action == .deleteSelf {
        targets.insert(reference.recordName)
      }
    }
    return targets
  }
}
