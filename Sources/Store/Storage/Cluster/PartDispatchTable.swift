import SQLEngine
import StoreModel

/// The dispatch positions of the parts of divided databases. The table is empty on an engine for
/// one server.
///
/// Each part reads all changes of its database, and dispatches them to its own subscribers, so the
/// parts have different positions. The lowest of them is the position of the database in
/// ``DispatchTable``.
struct PartDispatchTable: Table {
  let transaction: StoreTransaction

  /// `through` is the last change that the part has dispatched, fully or partly. `changes` is the
  /// number of the database's changes up to it. For the `settled_` columns see
  /// ``DispatchPosition/settled``.
  static let definition = [
    """
    CREATE TABLE part_dispatches (
      database_id BIGINT NOT NULL, part BIGINT NOT NULL, through BIGINT NOT NULL,
      changes BIGINT NOT NULL, settled_subscriber TEXT, settled_subscription TEXT,
      PRIMARY KEY (database_id, part)) /*clustered*/
    """
  ]

  func position(of part: DatabasePart) throws -> DispatchPosition? {
    try connection.first(
      sql.position, [.id(part.database), .count(part.number)], DispatchPosition.init(row:))
  }

  func commonPosition(of database: DatabaseID) throws -> DispatchPosition? {
    try connection.first(
      sql.commonPosition, [.id(database)]
    ) { DispatchPosition(through: $0.integer(0), changes: $0.integer(1)) }
  }

  /// The caller has added the part before (``add(_:ofPart:of:)``).
  func write(_ position: DispatchPosition, of part: DatabasePart) throws {
    try connection.run(
      sql.write,
      [
        .id(part.database), .count(part.number),
        .integer(position.through), .integer(position.changes),
        SQLValue(position.settled?.subscriber), SQLValue(position.settled?.subscriptionID),
      ])
  }

  func add(_ position: DispatchPosition, ofPart number: Int, of database: DatabaseID) throws {
    try connection.run(
      sql.add,
      [.id(database), .count(number), .integer(position.through), .integer(position.changes)])
  }

  func remove(of database: DatabaseID) throws {
    try connection.run(sql.removeAll, [.id(database)])
  }

  struct Statements {
    let position: Statement = """
      SELECT through, changes, settled_subscriber, settled_subscription,
        \(DeferredDispatchTable.exist(inDatabaseOf: "part_dispatches"))
      FROM part_dispatches WHERE database_id = $1 AND part = $2
      """
    let commonPosition: Statement = """
      SELECT MIN(CASE WHEN settled_subscriber IS NULL THEN through ELSE through - 1 END),
        MIN(CASE WHEN settled_subscriber IS NULL THEN changes ELSE changes - 1 END)
      FROM part_dispatches WHERE database_id = $1
      """
    let write: Statement = """
      UPDATE part_dispatches
      SET through = $3, changes = $4, settled_subscriber = $5, settled_subscription = $6
      WHERE database_id = $1 AND part = $2
      """
    let add: Statement =
      "INSERT INTO part_dispatches (database_id, part, through, changes) VALUES ($1, $2, $3, $4)"
    let removeAll: Statement = "DELETE FROM part_dispatches WHERE database_id = $1"
  }
  static let sql = Statements()
}
