import CloudKitModel
import SQLEngine
import StoreModel

/// The pushes that a push service or a webhook refused for good, usually because of a fault in
/// Petrel. Their payloads are kept, so that an administrator can report the fault.
struct RefusedPushTable: Table {
  let transaction: StoreTransaction

  /// A row belongs to the delivery with the same `database_id` and `number`, which has the reason.
  static let definition = [
    """
    CREATE TABLE refused_pushes (
      database_id BIGINT NOT NULL, number BIGINT NOT NULL, refused BIGINT NOT NULL,
      payload BYTEA NOT NULL, PRIMARY KEY (database_id, number))
    """,
    "CREATE INDEX refused_pushes_by_time ON refused_pushes (refused)",
  ]

  func newest(limit: Int) throws -> [RefusedPush] {
    try connection.rows(sql.newest, [.count(max(0, limit))]) { row in
      RefusedPush(
        id: Delivery.ID(row: row), refused: row.time(2), reason: row.text(3), payload: row.bytes(4))
    }
  }

  func add(_ id: Delivery.ID, payload: [UInt8], at timestamp: Timestamp) throws {
    try decide(
      sql.add, [.id(id.database), .integer(id.number), .time(timestamp), .bytes(payload)])
  }

  func old(before horizon: Int64) throws -> [Delivery.ID] {
    try connection.rows(
      sql.old, [.integer(horizon), .integer(Retention.batch)], Delivery.ID.init(row:))
  }

  func drop(_ ids: [Delivery.ID]) throws -> Int {
    var rows = SQLArguments()
    for id in ids { rows.append(id.database.rawValue, id.number) }
    try connection.runLater(sql.drop, rows: rows)
    return ids.count
  }

  func remove(after first: Int64, before end: Int64, in database: DatabaseID) throws {
    try decide(sql.remove, [.id(database), .integer(first), .integer(end)])
  }

  struct Statements {
    let newest = """
      SELECT refused_pushes.database_id, refused_pushes.number, refused, reason, payload
      FROM refused_pushes JOIN deliveries
        ON deliveries.database_id = refused_pushes.database_id
        AND deliveries.number = refused_pushes.number
      ORDER BY refused DESC, refused_pushes.database_id, refused_pushes.number DESC LIMIT $1
      """.except([.everyDatabase, .wholeTable])
    let add: Statement =
      "INSERT INTO refused_pushes (database_id, number, refused, payload) VALUES ($1, $2, $3, $4)"
    let old = "SELECT database_id, number FROM refused_pushes WHERE refused < $1 LIMIT $2".except(
      .everyDatabase)
    let drop = RowStatement(
      deletingFrom: "refused_pushes", by: ["database_id": .integer, "number": .integer])
    let remove: Statement =
      "DELETE FROM refused_pushes WHERE database_id = $1 AND number > $2 AND number < $3"
  }
  static let sql = Statements()
}
