import CloudKitModel
import SQLEngine
import StoreModel

/// The records that left a shared hierarchy: deleted ones, and those that got another place. A
/// participant of the share has to delete such a record. Its row has what the participant's change
/// feed says about it. Records of hierarchies that are not shared leave no row.
struct DepartureTable: Table {
  let transaction: StoreTransaction

  /// - `top_number` is the number of the root that the record had above itself.
  /// - `version` is the number of the change with which the record left, `arrived` that of its
  ///   coming.
  static let definition = [
    """
    CREATE TABLE departures (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, top_number BIGINT NOT NULL,
      version BIGINT NOT NULL, record_number BIGINT NOT NULL, record_name TEXT NOT NULL,
      type_number BIGINT NOT NULL, arrived BIGINT NOT NULL, departed BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_number, top_number, version, record_number)) /*clustered*/
    """
  ]

  // MARK: Writing

  /// The record and its place are still stored.
  func add(
    _ record: Int64, at version: Int64, timestamp: Timestamp, in database: DatabaseID
  ) throws {
    try decide(sql.add, [.id(database), .integer(version), .time(timestamp), .integer(record)])
  }

  /// The share of the hierarchy ends.
  func addAll(
    below top: Int64, inZone zone: Int64, at version: Int64, timestamp: Timestamp,
    of database: DatabaseID
  ) throws {
    try decide(
      sql.addAll,
      [.id(database), .integer(version), .time(timestamp), .integer(zone), .integer(top)])
  }

  // MARK: Reading

  func latest(below top: Int64, inZone zone: Int64, of database: DatabaseID) throws -> Int64? {
    try connection.integer(sql.latest, [.id(database), .integer(zone), .integer(top)])
  }

  /// Without records that came after the version `known`, up to which the reader has read.
  func rows(
    below top: Int64, inZone zone: Int64, of database: DatabaseID, _ range: HierarchyFeed.Range,
    knownThrough known: Int64
  ) throws -> [HierarchyFeed.Row] {
    try connection.rows(
      sql.rows,
      [
        .id(database), .integer(zone), .integer(top), .integer(range.low.version),
        .integer(range.low.number), .integer(known), .count(range.limit),
      ]
    ) {
      HierarchyFeed.Row(
        place: .init(version: $0.integer(0), number: $0.integer(1)), typeNumber: $0.integer(2),
        departedName: $0.text(3))
    }
  }

  // MARK: Retention

  func old(before horizon: Int64) throws -> [TombstoneTable.Cut] {
    try connection.rows(sql.old, [.integer(horizon)]) {
      TombstoneTable.Cut(
        database: $0.integer(0), zone: $0.integer(1), version: $0.integer(2))
    }
  }

  func trim(through cut: TombstoneTable.Cut) throws {
    try ZoneTable(transaction: transaction).note(
      trimmedVersion: cut.version, ofZone: cut.zone, in: DatabaseID(rawValue: cut.database))
    try decide(sql.trim, [.integer(cut.database), .integer(cut.zone), .integer(cut.version)])
  }

  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(zone)])
  }

  private static func addition(of records: String) -> Statement {
    """
    INSERT INTO departures (database_id, zone_number, top_number, version, record_number,
      record_name, type_number, arrived, departed)
    SELECT hierarchy.database_id, hierarchy.zone_number, hierarchy.top_number, $2,
      hierarchy.record_number, records.record_name, records.type_number, hierarchy.arrived, $3
    FROM hierarchy
    JOIN records ON records.database_id = hierarchy.database_id
      AND records.record_number = hierarchy.record_number
    WHERE hierarchy.database_id = $1 AND \(records)
    """
  }

  struct Statements {
    let add = addition(of: "hierarchy.record_number = $4")
    let addAll = addition(of: "hierarchy.zone_number = $4 AND hierarchy.top_number = $5")
    let latest: Statement = """
      SELECT version FROM departures
      WHERE database_id = $1 AND zone_number = $2 AND top_number = $3
      ORDER BY version DESC LIMIT 1
      """
    let rows: Statement = """
      SELECT version, record_number, type_number, record_name FROM departures
      WHERE database_id = $1 AND zone_number = $2 AND top_number = $3
        AND (version, record_number) > ($4, $5)
        AND arrived <= $6
      ORDER BY version, record_number LIMIT $7
      """
    let old = """
      SELECT database_id, zone_number, MAX(version) FROM departures WHERE departed < $1
      GROUP BY database_id, zone_number
      """.except([.everyDatabase, .wholeTable])
    let trim: Statement =
      "DELETE FROM departures WHERE database_id = $1 AND zone_number = $2 AND version <= $3"
    let removeAll: Statement = "DELETE FROM departures WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
}
