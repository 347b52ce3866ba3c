import CloudKitModel
import SQLEngine
import StoreModel

/// The position up to which the changes of a database, or of a part of a divided one, are
/// dispatched: the notifications of all subscriptions that they fire are in the log. A change that
/// fires very many subscriptions takes several transactions. Between them it is partly dispatched.
struct DispatchPosition: Hashable {
  /// The last change that is dispatched, fully or partly; `Int64.min` before the first one.
  var through: Int64
  /// The number of the database's changes up to ``through``. The count begins again at 0 after all
  /// of the database's rows in ``DispatchTable`` were deleted.
  var changes: Int64
  /// The last processed subscription of the change ``through``, in the order of subscribers and
  /// IDs; nil if all are processed.
  var settled: SubscriptionName?
  /// Only read, never stored with the position.
  var hasDeferrals = false

  /// The number up to which all changes are fully dispatched; need not be the number of a change.
  var wholeThrough: Int64 { settled == nil ? through : through - 1 }
}

/// The dispatch positions of databases, with a row for each transaction that dispatched changes.
/// The last row of a database is its position. Dispatching does not update the changes, which stay
/// in the ``OutboxTable`` as a history.
struct DispatchTable: Table {
  let transaction: StoreTransaction

  /// `changes` is the number of the database's changes up to `through`. For the `settled_` columns
  /// see ``DispatchPosition/settled``.
  static let definition = [
    """
    CREATE TABLE dispatches (
      database_id BIGINT NOT NULL, through BIGINT NOT NULL, changes BIGINT NOT NULL,
      dispatched BIGINT NOT NULL, settled_subscriber TEXT, settled_subscription TEXT,
      PRIMARY KEY (database_id, through)) /*clustered*/
    """
  ]

  /// The key of a row.
  struct Key: Hashable, Sendable {
    var database: Int64
    var through: Int64
  }

  /// A transaction that dispatched changes.
  struct Dispatch: InDatabase {
    var key: Key
    var changes: Int64
    var dispatched: Int64
    var isWhole: Bool

    var database: DatabaseID { DatabaseID(rawValue: key.database) }
  }

  func position(of database: DatabaseID) throws -> DispatchPosition? {
    try connection.first(sql.position, [.id(database)], DispatchPosition.init(row:))
  }

  func position(of part: DatabasePart) throws -> DispatchPosition? {
    if part.isWhole { return try position(of: part.database) }
    return try PartDispatchTable(transaction: transaction).position(of: part)
  }

  /// A position that is to be written.
  struct Row {
    var position: DispatchPosition
    var dispatched: Timestamp
  }

  func write(_ position: DispatchPosition, of database: DatabaseID, at timestamp: Timestamp) {
    transaction.writes.dispatches.decide(
      Row(position: position, dispatched: timestamp),
      for: Key(database: database.rawValue, through: position.through))
  }

  func writeDecided() throws {
    var rows = RowInsertion(sql.insertion)
    for (key, _, row) in transaction.writes.dispatches.takeChanges() {
      guard let row else { continue }
      try rows.add(in: connection) {
        $0.append(key.database, key.through)
        $0.append(row.position.changes, row.dispatched.milliseconds)
        $0.append(row.position.settled?.subscriber)
        $0.append(row.position.settled?.subscriptionID)
      }
    }
    try rows.finish(in: connection)
  }

  func dispatches(behind key: Key, limit: Int64) throws -> [Dispatch] {
    try connection.rows(
      sql.behind, [.integer(key.database), .integer(key.through), .integer(limit)]
    ) {
      Dispatch(
        key: Key(database: $0.integer(0), through: $0.integer(1)),
        changes: $0.integer(2), dispatched: $0.integer(3), isWhole: $0.isNull(4))
    }
  }

  func dropChanges(
    of database: DatabaseID, dispatchedAt position: DispatchPosition
  ) throws {
    try OutboxTable(transaction: transaction).drop(from: database, through: position.wholeThrough)
    try decide(sql.dropBefore, [.id(database), .integer(position.through)])
  }

  /// The changes of one transaction go together. One call deletes those of at most 128 transactions,
  /// so that it takes a short time.
  ///
  /// - Parameter number: the last change that may be deleted, as a count in the column `changes`.
  func dropChanges(of database: DatabaseID, before number: Int64) throws {
    guard number > 0 else { return }
    let last = try connection.first(
      sql.oldest, [.id(database), .integer(number)]
    ) { $0.optionalInteger(0) }
    guard let last = last ?? nil else { return }
    try OutboxTable(transaction: transaction).drop(from: database, through: last)
    try decide(sql.dropThrough, [.id(database), .integer(last)])
  }

  func drop(_ dispatch: Key) throws {
    let database = DatabaseID(rawValue: dispatch.database)
    try OutboxTable(transaction: transaction).drop(from: database, through: dispatch.through)
    try remove(of: database, through: dispatch.through)
  }

  /// The changes that the transaction dispatched stay.
  func remove(of database: DatabaseID, through sequence: Int64) throws {
    try decide(sql.remove, [.id(database), .integer(sequence)])
  }

  struct Statements {
    let position: Statement = """
      SELECT through, changes, settled_subscriber, settled_subscription,
        \(DeferredDispatchTable.exist(inDatabaseOf: "dispatches"))
      FROM dispatches WHERE database_id = $1 ORDER BY through DESC LIMIT 1
      """
    /// The arguments are databases, and the last changes to count. The columns are the database,
    /// the number of changes, and those of ``DispatchPosition/init(row:from:)``, which are null for
    /// a database without a position.
    let positions = RowQuery([.integer, .integer]) {
      """
      SELECT c1, (
          SELECT COUNT(*) FROM outbox WHERE outbox.database_id = c1 AND sequence <= c2
            AND sequence > COALESCE(CASE WHEN settled_subscriber IS NULL THEN through
              ELSE through - 1 END, -1)),
        through, changes, settled_subscriber, settled_subscription, (
          SELECT COUNT(*) FROM (
            SELECT 1 FROM deferred_dispatches WHERE deferred_dispatches.database_id = c1 LIMIT 1)
          AS deferred)
      FROM \($0)
      LEFT JOIN LATERAL (
        SELECT through, changes, settled_subscriber, settled_subscription FROM dispatches
        WHERE dispatches.database_id = c1 ORDER BY through DESC LIMIT 1) AS last ON TRUE
      """
    }
    let insertion = RowStatement(
      inserting: """
        dispatches (database_id, through, changes, dispatched, settled_subscriber,
          settled_subscription)
        """, [.integer, .integer, .integer, .integer, .text, .text],
      tail: """
        ON CONFLICT (database_id, through) DO UPDATE SET changes = excluded.changes,
          dispatched = excluded.dispatched, settled_subscriber = excluded.settled_subscriber,
          settled_subscription = excluded.settled_subscription
        """)
    let behind = """
      SELECT database_id, through, changes, dispatched, settled_subscriber FROM dispatches
      WHERE (database_id, through) > ($1, $2) ORDER BY database_id, through LIMIT $3
      """.except(.everyDatabase)
    let dropBefore: Statement = "DELETE FROM dispatches WHERE database_id = $1 AND through < $2"
    let oldest: Statement = """
      SELECT MAX(through) FROM (
        SELECT through, changes FROM dispatches WHERE database_id = $1 ORDER BY through LIMIT 128
      ) AS oldest WHERE changes <= $2
      """
    let dropThrough: Statement = "DELETE FROM dispatches WHERE database_id = $1 AND through <= $2"
    let remove: Statement = "DELETE FROM dispatches WHERE database_id = $1 AND through = $2"
  }
  static let sql = Statements()
}

extension DispatchPosition {
  init(row: any SQLRow) { self.init(row: row, from: 0) }

  /// Reads `through`, `changes`, `settled_subscriber`, `settled_subscription`, and whether
  /// subscribers are deferred, from the column `first` on.
  init(row: any SQLRow, from first: Int32) {
    self.init(through: row.integer(first), changes: row.integer(first + 1))
    hasDeferrals = row.integer(first + 4) == 1
    if let subscriber = row.optionalText(first + 2),
      let subscriptionID = row.optionalText(first + 3)
    {
      settled = SubscriptionName(subscriber: subscriber, subscriptionID: subscriptionID)
    }
  }
}
