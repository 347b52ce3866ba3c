import CloudKitModel
import SQLEngine
import StoreModel

/// The pushes that APNs refused because of a fault in Petrel, with their payloads, for the report
/// of the fault.
struct RefusedPushTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// A row belongs to the delivery with the same key, which has the reason. `refused` is in
  /// milliseconds since 1970. `payload` is the JSON text that was sent.
  static let definition = [
    """
    CREATE TABLE refused_pushes (
      database_id BIGINT NOT NULL, number BIGINT NOT NULL, refused BIGINT NOT NULL,
      payload BYTEA NOT NULL, PRIMARY KEY (database_id, number))
    """,
    "CREATE INDEX refused_pushes_by_time ON refused_pushes (refused)",
  ]

  /// The newest refused pushes of all databases.
  ///
  /// - Parameter limit: the most pushes returned; a number below 0 counts as 0.
  func newest(limit: Int) throws -> [RefusedPush] {
    try connection.rows(
      """
      SELECT refused_pushes.database_id, refused_pushes.number, refused, reason, payload
      FROM refused_pushes JOIN deliveries
        ON deliveries.database_id = refused_pushes.database_id
        AND deliveries.number = refused_pushes.number
      ORDER BY refused DESC, refused_pushes.database_id, refused_pushes.number DESC LIMIT $1
      """, [.integer(Int64(max(0, limit)))]
    ) { row in
      RefusedPush(
        id: Delivery.ID(row: row), refused: Timestamp(milliseconds: row.integer(2)),
        reason: row.text(3), payload: row.bytes(4))
    }
  }

  /// Stores a refused push.
  func add(_ id: Delivery.ID, payload: [UInt8], at timestamp: Timestamp) throws {
    try connection.run(
      """
      INSERT INTO refused_pushes (database_id, number, refused, payload) VALUES ($1, $2, $3, $4)
      """,
      [
        .integer(id.database.rawValue), .integer(id.number), .integer(timestamp.milliseconds),
        .bytes(payload),
      ])
  }

  /// A batch of old refused pushes.
  ///
  /// - Parameter horizon: milliseconds since 1970.
  /// - Returns: at most ``Retention/batch`` deliveries.
  func old(before horizon: Int64) throws -> [Delivery.ID] {
    try connection.rows(
      "SELECT database_id, number FROM refused_pushes WHERE refused < $1 LIMIT $2",
      [.integer(horizon), .integer(Retention.batch)], Delivery.ID.init(row:))
  }

  /// Deletes refused pushes, and returns the number of IDs passed.
  func drop(_ ids: [Delivery.ID]) throws -> Int {
    for (database, ids) in Dictionary(grouping: ids, by: \.database) {
      try transaction.delete(
        "DELETE FROM refused_pushes WHERE database_id = $1 AND number IN",
        [.integer(database.rawValue)], numbers: ids.map(\.number))
    }
    return ids.count
  }

  /// Deletes the refused pushes of deliveries whose numbers are between two others, both exclusive.
  func remove(after first: Int64, before end: Int64, in database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM refused_pushes WHERE database_id = $1 AND number > $2 AND number < $3",
      [.integer(database.rawValue), .integer(first), .integer(end)])
  }
}
