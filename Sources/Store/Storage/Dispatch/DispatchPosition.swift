import CloudKitModel
import StoreModel

/// How far the changes of a database are dispatched.
struct DispatchPosition: Hashable {
  /// The last change that is dispatched, wholly or in part.
  var through: Int64
  /// How many of the database's changes that makes, since they are counted.
  var changes: Int64
  /// Of a change with more firings than a transaction takes, how far they are settled; nil when all
  /// of them are.
  var settled: SubscriptionName?

  /// The changes up to this one are dispatched wholly.
  var wholeThrough: Int64 { settled == nil ? through : through - 1 }
}

extension DispatchPosition {
  init(row: any SQLRow) {
    self.init(through: row.integer(0), changes: row.integer(1))
    if let subscriber = row.optionalText(2), let subscriptionID = row.optionalText(3) {
      settled = SubscriptionName(subscriber: subscriber, subscriptionID: subscriptionID)
    }
  }
}

extension StoreSession {
  /// How far a database's changes are dispatched; nil before the first.
  func dispatchPosition(of database: DatabaseID) throws -> DispatchPosition? {
    try connection.first(
      """
      SELECT through, changes, settled_subscriber, settled_subscription FROM dispatches
      WHERE database_id = $1 ORDER BY through DESC LIMIT 1
      """, [.integer(database.rawValue)], DispatchPosition.init(row:))
  }

  /// How far a database's changes are dispatched to a part of it; nil before the first.
  func dispatchPosition(of part: DatabasePart) throws -> DispatchPosition? {
    if part.isWhole { return try dispatchPosition(of: part.database) }
    return try PartDispatchTable(session: self).position(of: part)
  }

  /// Keeps that the changes up to a position are dispatched.
  func write(_ position: DispatchPosition, of database: DatabaseID, at timestamp: Timestamp) throws
  {
    try connection.run(
      """
      INSERT INTO dispatches
        (database_id, through, changes, dispatched, settled_subscriber, settled_subscription)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (database_id, through) DO UPDATE SET changes = excluded.changes,
        dispatched = excluded.dispatched, settled_subscriber = excluded.settled_subscriber,
        settled_subscription = excluded.settled_subscription
      """,
      [
        .integer(database.rawValue), .integer(position.through), .integer(position.changes),
        .integer(timestamp.milliseconds), SQLValue(position.settled?.subscriber),
        SQLValue(position.settled?.subscriptionID),
      ])
  }
}
