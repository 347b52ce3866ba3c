import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The marks that a user has read the entries with one notification ID in one database. Positions
/// of marks and numbers of entries come from the database's sequence, so they have one order.
struct NotificationMarkTable: Table {
  let transaction: StoreTransaction

  static let definition = [
    """
    CREATE TABLE notification_marks (
      database_id BIGINT NOT NULL, subscriber TEXT NOT NULL, notification_id BYTEA NOT NULL,
      position BIGINT NOT NULL, marked BIGINT NOT NULL,
      PRIMARY KEY (database_id, subscriber, notification_id)) /*clustered*/
    """,
    """
    CREATE INDEX notification_marks_by_position
    ON notification_marks (database_id, subscriber, position, marked)
    """,
  ]

  /// `entries` is the name of the entries' table in the statement.
  static func isMarked(_ entries: String) -> String {
    """
    EXISTS (
      SELECT 1 FROM notification_marks
      WHERE notification_marks.database_id = \(entries).database_id
        AND notification_marks.subscriber = \(entries).subscriber
        AND notification_marks.notification_id = \(entries).notification_id)
    """
  }

  func isMarked(
    _ notificationID: UUID, of subscriber: String, in database: DatabaseID
  ) throws -> Bool {
    try connection.exists(
      sql.exists, [.id(database), .text(subscriber), .bytes(notificationID.storedBytes)])
  }

  func marks(
    of subscriber: String, in database: DatabaseID, after position: Int64, limit: Int
  ) throws -> [(position: Int64, marked: Timestamp, notificationID: UUID)] {
    try connection.rows(
      sql.marks, [.id(database), .text(subscriber), .integer(position), .count(limit)]
    ) { row in
      (
        position: row.integer(0), marked: row.time(1),
        notificationID: try UUID(stored: row.bytes(2))
      )
    }
  }

  /// A notification that is already marked stays as it is.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` without a lock of the database.
  func mark(
    _ notificationIDs: [UUID], of subscriber: String, in database: DatabaseID, at time: Timestamp
  ) throws {
    let databases = DatabaseTable(transaction: transaction)
    for notificationID in notificationIDs {
      // Another device may have marked the notification meanwhile.
      try decide(
        sql.mark,
        [
          .id(database), .text(subscriber), .bytes(notificationID.storedBytes),
          .integer(try databases.nextNumber(of: database)), .time(time),
        ])
    }
  }

  // MARK: Retention

  /// At most ``Retention/batch`` marks of all databases.
  func old(before horizon: Int64) throws -> [TrimmedChange] {
    try connection.rows(
      sql.old, [.integer(horizon), .integer(Retention.batch)], TrimmedChange.init(mark:))
  }

  /// Subscribers with more than `count` marks in all databases, each with the newest mark to delete.
  func overfull(keeping count: Int) throws -> [LogCut] {
    let overfull = try connection.texts(sql.overfull, [.count(count)])
    return try overfull.compactMap { subscriber in
      try connection.first(sql.cut, [.text(subscriber), .count(count)]) {
        LogCut(subscriber, $0)
      }
    }
  }

  func marks(through cut: LogCut) throws -> [TrimmedChange] {
    try connection.rows(sql.through, cut.arguments, TrimmedChange.init(mark:))
  }

  /// The entries become unread, unless the caller deletes them, too.
  func drop(_ mark: TrimmedChange) throws {
    try decide(
      sql.drop, [.id(mark.database), .text(mark.subscriber), .bytes(mark.notificationID)])
  }

  struct Statements {
    let exists: Statement = """
      SELECT 1 FROM notification_marks
      WHERE database_id = $1 AND subscriber = $2 AND notification_id = $3
      """
    let marks: Statement = """
      SELECT position, marked, notification_id FROM notification_marks
      WHERE database_id = $1 AND subscriber = $2 AND position > $3
      ORDER BY position LIMIT $4
      """
    let mark: Statement = """
      INSERT INTO notification_marks
        (database_id, subscriber, notification_id, position, marked)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (database_id, subscriber, notification_id) DO NOTHING
      """
    let old = """
      SELECT \(TrimmedChange.markColumns) FROM notification_marks WHERE marked < $1
      ORDER BY database_id, subscriber, position LIMIT $2
      """.except([.everyDatabase, .wholeTable])
    let overfull = """
      SELECT subscriber FROM notification_marks GROUP BY subscriber HAVING COUNT(*) > $1
      """.except([.everyDatabase, .wholeTable])
    let cut = """
      SELECT marked, database_id, position FROM notification_marks WHERE subscriber = $1
      ORDER BY marked DESC, database_id DESC, position DESC LIMIT 1 OFFSET $2
      """.except([.everyDatabase, .wholeTable])
    let through = """
      SELECT \(TrimmedChange.markColumns) FROM notification_marks
      WHERE subscriber = $1 AND (marked, database_id, position) <= ($2, $3, $4) LIMIT $5
      """.except([.everyDatabase, .wholeTable])
    let drop: Statement = """
      DELETE FROM notification_marks
      WHERE database_id = $1 AND subscriber = $2 AND notification_id = $3
      """
  }
  static let sql = Statements()
}
