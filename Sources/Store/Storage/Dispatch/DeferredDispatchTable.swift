import CloudKitModel
import SQLEngine
import StoreModel

/// The subscribers whose firings are deferred, each with the position up to which a database's
/// changes are dispatched to the subscriber (`DeferredWork`). A row exists from the transaction
/// that first leaves out firings until the subscriber's position has reached that of the database.
struct DeferredDispatchTable: Table {
  let transaction: StoreTransaction

  /// `through` is the last change that is dispatched to the subscriber, fully or partly. If partly,
  /// `settled_subscription` is the last processed subscription.
  static let definition = [
    """
    CREATE TABLE deferred_dispatches (
      database_id BIGINT NOT NULL, subscriber TEXT NOT NULL, through BIGINT NOT NULL,
      settled_subscription TEXT, PRIMARY KEY (database_id, subscriber)) /*clustered*/
    """
  ]

  static func exist(inDatabaseOf table: String) -> String {
    """
    EXISTS (
      SELECT 1 FROM deferred_dispatches
      WHERE deferred_dispatches.database_id = \(table).database_id)
    """
  }

  /// The number up to which changes are dispatched to all deferred subscribers of the database
  /// `$1`.
  static let leastWholeThrough = """
    SELECT MIN(CASE WHEN settled_subscription IS NULL THEN through ELSE through - 1 END)
    FROM deferred_dispatches WHERE database_id = $1
    """

  func subscribers(in part: DatabasePart) throws -> [String] {
    try connection.texts(sql.subscribers(part), [.id(part.database)] + part.division)
  }

  /// The count of changes in the result is 0. Nil if the subscriber is not deferred.
  func position(of subscriber: String, in database: DatabaseID) throws -> DispatchPosition? {
    try connection.first(sql.position, [.id(database), .text(subscriber)]) { row in
      DispatchPosition(
        through: row.integer(0), changes: 0,
        settled: row.optionalText(1).map {
          SubscriptionName(subscriber: subscriber, subscriptionID: $0)
        })
    }
  }

  func leastWholeThrough(in database: DatabaseID) throws -> Int64? {
    try connection.first(sql.leastWholeThrough, [.id(database)]) { $0.optionalInteger(0) }
      ?? nil
  }

  /// - Parameter entryLimit: the number of newest entries that the subscriber's log keeps.
  func work(
    of subscriber: String, in part: DatabasePart, limit: Int, keeping entryLimit: Int
  ) throws -> DeferredWork? {
    guard let position = try position(of: subscriber, in: part.database),
      let end = try DispatchTable(transaction: transaction).position(of: part)
    else { return nil }
    let entries = try OutboxTable(transaction: transaction).entries(
      for: part, after: position.wholeThrough, through: end.wholeThrough, limit: limit)
    if entries.isEmpty { return nil }
    let address = try DatabaseTable(transaction: transaction).address(of: part.database)
    let changes = try entries.map { entry in
      var entry = entry
      entry.deferral = subscriber
      if entry.sequence == position.through { entry.settledThrough = position.settled }
      let isReadable = try entry.change.record.map { record in
        try AccessPolicy.access(
          of: .user(userRecordName: subscriber), toType: record.recordType, at: address,
          in: transaction
        ).mayRead(record)
      }
      return DeferredWork.Change(entry: entry, isReadable: isReadable ?? true)
    }
    return DeferredWork(
      changes: changes,
      subscriptions: try SubscriptionTable(transaction: transaction)
        .storedSubscriptions(of: subscriber, in: part.database),
      entryLimit: entryLimit)
  }

  /// The oldest of the changes that wait for a subscriber, when there are too many.
  struct Overdue {
    var position: DispatchPosition
    var last: Int64
    var count: Int
  }

  /// Returns the waiting changes that have at least `most` newer ones after them.
  func overdue(
    of subscriber: String, in part: DatabasePart, keeping most: Int
  ) throws -> Overdue? {
    let outbox = OutboxTable(transaction: transaction)
    guard let position = try position(of: subscriber, in: part.database),
      let end = try DispatchTable(transaction: transaction).position(of: part),
      // The numbers of changes rise by at least 1.
      end.wholeThrough.subtractingReportingOverflow(position.through).partialValue > most,
      let last = try outbox.number(
        ofChangeBeforeNewest: most, of: part.database, after: position.wholeThrough,
        through: end.wholeThrough)
    else { return nil }
    let count = try outbox.count(of: part.database, from: position, through: last)
    return Overdue(position: position, last: last, count: count ?? 0)
  }

  // MARK: Writing

  /// In the subscriber's log their firings leave the same trace as trimmed entries.
  func giveUp(_ overdue: Overdue, of subscriber: String, in part: DatabasePart) throws {
    guard try position(of: subscriber, in: part.database) == overdue.position else { return }
    try write(
      DispatchPosition(through: overdue.last, changes: 0, settled: nil), of: subscriber,
      in: part.database)
    try NotificationLogTable(transaction: transaction).noteTrimmed(
      through: try DatabaseTable(transaction: transaction).nextNumber(of: part.database),
      of: subscriber, in: part.database)
  }

  /// A subscriber who is deferred already stays so.
  func begin(_ subscriber: String, after sequence: Int64, in database: DatabaseID) throws {
    try decide(sql.begin, [.id(database), .text(subscriber), .integer(sequence)])
  }

  func write(
    _ position: DispatchPosition, of subscriber: String, in database: DatabaseID
  ) throws {
    try decide(
      sql.write,
      [
        .id(database), .text(subscriber), .integer(position.through),
        SQLValue(position.settled?.subscriptionID),
      ])
  }

  func remove(_ subscriber: String, in database: DatabaseID) throws {
    try decide(sql.remove, [.id(database), .text(subscriber)])
  }

  struct Statements {
    let leastWholeThrough = Statement(DeferredDispatchTable.leastWholeThrough)
    let subscribers = PartStatement(
      "SELECT subscriber FROM deferred_dispatches WHERE database_id = $1", arguments: 1,
      " ORDER BY subscriber")
    let position: Statement = """
      SELECT through, settled_subscription FROM deferred_dispatches
      WHERE database_id = $1 AND subscriber = $2
      """
    let begin: Statement = """
      INSERT INTO deferred_dispatches (database_id, subscriber, through) VALUES ($1, $2, $3)
      ON CONFLICT (database_id, subscriber) DO NOTHING
      """
    let write: Statement = """
      UPDATE deferred_dispatches SET through = $3, settled_subscription = $4
      WHERE database_id = $1 AND subscriber = $2
      """
    let remove: Statement =
      "DELETE FROM deferred_dispatches WHERE database_id = $1 AND subscriber = $2"
  }
  static let sql = Statements()
}
