import SQLEngine
import StoreModel

/// The dispatch positions of the parts of divided databases. Empty on an engine for one server.
///
/// A part goes through all changes of its database and fires its own subscribers' subscriptions. So
/// the parts of a database have different positions. The lowest is the position of the database in
/// ``DispatchTable``.
struct PartDispatchTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// `through` is the last change that the part has dispatched, fully or partly. `changes` counts
  /// the database's changes up to it. The `settled_` columns are null unless the last change is
  /// dispatched partly; see ``DispatchPosition/settled``.
  static let definition = [
    """
    CREATE TABLE part_dispatches (
      database_id BIGINT NOT NULL, part BIGINT NOT NULL, through BIGINT NOT NULL,
      changes BIGINT NOT NULL, settled_subscriber TEXT, settled_subscription TEXT,
      PRIMARY KEY (database_id, part)) /*clustered*/
    """
  ]

  /// The dispatch position of a part. The result is nil if the database has no such part.
  func position(of part: DatabasePart) throws -> DispatchPosition? {
    try connection.first(
      """
      SELECT through, changes, settled_subscriber, settled_subscription FROM part_dispatches
      WHERE database_id = $1 AND part = $2
      """, [.integer(part.database.rawValue), .integer(Int64(part.number))],
      DispatchPosition.init(row:))
  }

  /// The position up to which all parts of a divided database have dispatched its changes.
  ///
  /// A part that has dispatched a change partly counts as one change behind. So the result is
  /// always the position of a fully dispatched change.
  func commonPosition(of database: DatabaseID) throws -> DispatchPosition? {
    try connection.first(
      """
      SELECT MIN(CASE WHEN settled_subscriber IS NULL THEN through ELSE through - 1 END),
        MIN(CASE WHEN settled_subscriber IS NULL THEN changes ELSE changes - 1 END)
      FROM part_dispatches WHERE database_id = $1
      """, [.integer(database.rawValue)]
    ) { DispatchPosition(through: $0.integer(0), changes: $0.integer(1)) }
  }

  /// Stores the position of a part. The part exists: ``add(_:ofPart:of:)`` created its row.
  func write(_ position: DispatchPosition, of part: DatabasePart) throws {
    try connection.run(
      """
      UPDATE part_dispatches
      SET through = $3, changes = $4, settled_subscriber = $5, settled_subscription = $6
      WHERE database_id = $1 AND part = $2
      """,
      [
        .integer(part.database.rawValue), .integer(Int64(part.number)),
        .integer(position.through), .integer(position.changes),
        SQLValue(position.settled?.subscriber), SQLValue(position.settled?.subscriptionID),
      ])
  }

  /// Adds a part that begins after a fully dispatched change.
  func add(_ position: DispatchPosition, ofPart number: Int, of database: DatabaseID) throws {
    try connection.run(
      """
      INSERT INTO part_dispatches (database_id, part, through, changes) VALUES ($1, $2, $3, $4)
      """,
      [
        .integer(database.rawValue), .integer(Int64(number)), .integer(position.through),
        .integer(position.changes),
      ])
  }

  /// Deletes the positions of a database's parts, before it is divided differently.
  func remove(of database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM part_dispatches WHERE database_id = $1", [.integer(database.rawValue)])
  }
}
