import CloudKitModel
import SQLEngine
import StoreModel

/// The places of records in hierarchies. A record has a row if it has a parent, if it is the root
/// of a share, or if it is the share of a hierarchy.
///
/// Only private databases have rows, because only their records can be shared as hierarchies.
struct HierarchyTable: Table {
  let transaction: StoreTransaction

  /// The second index lists a hierarchy in the order of its changes, for change feeds. Records that
  /// moved together have one version, so the index has their numbers too.
  ///
  /// - `parent_number` is 0 for none.
  /// - `arrived` is the change that gave the record its top, and `version` the latest change of the
  ///   record or its top.
  static let definition = [
    """
    CREATE TABLE hierarchy (
      database_id BIGINT NOT NULL, record_number BIGINT NOT NULL, zone_number BIGINT NOT NULL,
      parent_number BIGINT NOT NULL, top_number BIGINT NOT NULL, arrived BIGINT NOT NULL,
      version BIGINT NOT NULL, PRIMARY KEY (database_id, record_number)) /*clustered*/
    """,
    "CREATE INDEX hierarchy_by_parent ON hierarchy (database_id, parent_number, record_number)",
    """
    CREATE INDEX hierarchy_in_order
    ON hierarchy (database_id, zone_number, top_number, version, record_number)
    """,
  ]

  /// Both records are in the zone of the record.
  struct Place: Equatable {
    var parent: Int64?
    /// The nearest root of a share among the record and its ancestors; without one, the ancestor
    /// that has no parent. A share has the top of its root.
    var top: Int64
  }

  // MARK: Reading

  func place(of record: Int64, in database: DatabaseID) throws -> Place? {
    let key = WriteSet.PlaceKey(database: database, record: record)
    if let known = transaction.writes.places[key] { return known.row }
    // No decided statement changes an unknown place.
    let place = try transaction.besidesDecisions {
      try connection.first(
        sql.place, [.id(database), .integer(record)]
      ) { Place(parent: $0.integer(0) == 0 ? nil : $0.integer(0), top: $0.integer(1)) }
    }
    if transaction.isWriting { transaction.writes.places.note(place, for: key) }
    return place
  }

  private func decide(_ place: Place?, of record: Int64, in database: DatabaseID) {
    transaction.writes.places.decide(
      place, for: WriteSet.PlaceKey(database: database, record: record))
  }

  /// The oldest come first.
  func children(
    of record: Int64, in database: DatabaseID, limit: Int
  ) throws -> [(number: Int64, top: Int64)] {
    try connection.rows(
      sql.children, [.id(database), .integer(record), .count(limit)]
    ) { ($0.integer(0), $0.integer(1)) }
  }

  func latest(below top: Int64, inZone zone: Int64, of database: DatabaseID) throws -> Int64? {
    try connection.integer(sql.latest, [.id(database), .integer(zone), .integer(top)])
  }

  /// Without records that came after the version `arrival`.
  func rows(
    below top: Int64, inZone zone: Int64, of database: DatabaseID, _ range: HierarchyFeed.Range,
    arrivedThrough arrival: Int64 = .max
  ) throws -> [HierarchyFeed.Row] {
    try connection.rows(
      sql.rows,
      [
        .id(database), .integer(zone), .integer(top), .integer(range.low.version),
        .integer(range.low.number), .integer(arrival), .count(range.limit),
      ]
    ) {
      HierarchyFeed.Row(
        place: .init(version: $0.integer(0), number: $0.integer(1)), typeNumber: $0.integer(2))
    }
  }

  func count(
    below top: Int64, inZone zone: Int64, of database: DatabaseID, limit: Int
  ) throws -> Int {
    try connection.count(sql.count, [.id(database), .integer(zone), .integer(top), .count(limit)])
  }

  func hasRows(in database: DatabaseID) throws -> Bool {
    try connection.exists(sql.any, [.id(database)])
  }

  // MARK: Writing

  func set(
    _ place: Place, of record: Int64, at version: Int64, inZone zone: Int64,
    of database: DatabaseID
  ) throws {
    try decide(
      sql.set,
      [
        .id(database), .integer(record), .integer(zone),
        .integer(place.parent ?? 0),
        .integer(place.top), .integer(version),
      ])
    decide(place, of: record, in: database)
  }

  /// Moves a record with an ancestor. Its parent stays the same.
  func set(
    top: Int64, of record: Int64, at version: Int64, in database: DatabaseID
  ) throws {
    guard let place = try place(of: record, in: database) else { return }
    try decide(sql.setTop, [.id(database), .integer(record), .integer(top), .integer(version)])
    decide(Place(parent: place.parent, top: top), of: record, in: database)
  }

  func replace(
    top: Int64, with other: Int64, at version: Int64, inZone zone: Int64, of database: DatabaseID
  ) throws {
    try connection.run(
      sql.replaceTop,
      [.id(database), .integer(zone), .integer(top), .integer(other), .integer(version)])
    transaction.writes.places = RowOverlay()
  }

  func raise(_ version: Int64, of record: Int64, in database: DatabaseID) throws {
    try decide(sql.raise, [.id(database), .integer(record), .integer(version)])
  }

  func remove(_ record: Int64, of database: DatabaseID) throws {
    try decide(sql.remove, [.id(database), .integer(record)])
    decide(nil, of: record, in: database)
  }

  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(zone)])
  }

  struct Statements {
    let place: Statement = """
      SELECT parent_number, top_number FROM hierarchy
      WHERE database_id = $1 AND record_number = $2
      """
    let children: Statement = """
      SELECT record_number, top_number FROM hierarchy
      WHERE database_id = $1 AND parent_number = $2 ORDER BY record_number LIMIT $3
      """
    let latest: Statement = """
      SELECT version FROM hierarchy
      WHERE database_id = $1 AND zone_number = $2 AND top_number = $3
      ORDER BY version DESC LIMIT 1
      """
    let rows: Statement = """
      SELECT hierarchy.version, hierarchy.record_number, records.type_number FROM hierarchy
      JOIN records ON records.database_id = hierarchy.database_id
        AND records.record_number = hierarchy.record_number
      WHERE hierarchy.database_id = $1 AND hierarchy.zone_number = $2
        AND hierarchy.top_number = $3
        AND (hierarchy.version, hierarchy.record_number) > ($4, $5)
        AND hierarchy.arrived <= $6
      ORDER BY hierarchy.version, hierarchy.record_number LIMIT $7
      """
    let count: Statement = """
      SELECT COUNT(*) FROM (
        SELECT 1 FROM hierarchy
        WHERE database_id = $1 AND zone_number = $2 AND top_number = $3 LIMIT $4) AS counted
      """
    let any: Statement = "SELECT 1 FROM hierarchy WHERE database_id = $1 LIMIT 1"
    let set: Statement = """
      INSERT INTO hierarchy (database_id, record_number, zone_number, parent_number, top_number,
        arrived, version)
      VALUES ($1, $2, $3, $4, $5, $6, $6)
      ON CONFLICT (database_id, record_number) DO UPDATE
      SET parent_number = excluded.parent_number, top_number = excluded.top_number,
        version = excluded.version,
        arrived = CASE WHEN hierarchy.top_number = excluded.top_number THEN hierarchy.arrived
          ELSE excluded.arrived END
      """
    let setTop: Statement = """
      UPDATE hierarchy SET top_number = $3, arrived = $4, version = $4
      WHERE database_id = $1 AND record_number = $2
      """
    let replaceTop: Statement = """
      UPDATE hierarchy SET top_number = $4, arrived = $5, version = $5
      WHERE database_id = $1 AND zone_number = $2 AND top_number = $3
      """
    let raise: Statement =
      "UPDATE hierarchy SET version = $3 WHERE database_id = $1 AND record_number = $2"
    let remove: Statement = "DELETE FROM hierarchy WHERE database_id = $1 AND record_number = $2"
    let removeAll: Statement = "DELETE FROM hierarchy WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
}
