import CloudKitModel

extension Schema {
  /// What the notification log needs for its readers: IDs to find entries by, marks, and how much
  /// of each user's log was trimmed. A mark's position is drawn from the same numbers as the
  /// entries' sequences, so that both stand in one order.
  ///
  /// The index by subscriber holds all that readers choose entries by: an engine that had to look
  /// at the rows for it would rather walk the whole database's log.
  static let notificationLog = [
    "ALTER TABLE notification_log ADD COLUMN notification_id BYTEA",
    "DROP INDEX notification_log_by_subscriber",
    """
    CREATE INDEX notification_log_by_subscriber ON notification_log
      (database_id, subscriber, sequence, logged, origin_device, notification_id)
    """,
    """
    CREATE INDEX notification_log_by_id
    ON notification_log (database_id, subscriber, notification_id)
    """,
    "ALTER TABLE subscriber_databases ADD COLUMN trimmed_through BIGINT NOT NULL DEFAULT 0",
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

  /// The databases in which a user was notified are read from the index of the log itself, which has
  /// the subscriber first for that: a table of them changed two more pages with a user's first
  /// notification. From now on rows tell of those alone whose entries are gone, in part or all.
  static let notifiedUsers = [
    "ALTER TABLE subscriber_databases RENAME TO trimmed_logs",
    "DROP INDEX notification_log_by_subscriber",
    """
    CREATE INDEX notification_log_by_subscriber ON notification_log
      (subscriber, database_id, sequence, logged, origin_device, notification_id)
    """,
  ]

  /// Writes the IDs of entries that were logged before entries had a column for it.
  static func fillNotificationIDs(_ connection: any SQLConnection) throws {
    // The content does not hold the address, and its ID does not depend on it.
    let nowhere = DatabaseAddress(
      container: "", environment: .development, scope: .public, owner: nil)
    var last: (database: Int64, sequence: Int64) = (Int64.min, Int64.min)
    while true {
      let batch = try connection.rows(
        """
        SELECT database_id, sequence, content FROM notification_log
        WHERE (database_id, sequence) > ($1, $2) ORDER BY database_id, sequence LIMIT 500
        """, [.integer(last.database), .integer(last.sequence)]
      ) { (database: $0.integer(0), sequence: $0.integer(1), content: $0.bytes(2)) }
      guard let end = batch.last else { return }
      for row in batch {
        let notification = try SubscriptionNotification(
          stored: row.content, database: nowhere, subscriber: "")
        try connection.run(
          """
          UPDATE notification_log SET notification_id = $3
          WHERE database_id = $1 AND sequence = $2
          """,
          [
            .integer(row.database), .integer(row.sequence),
            .bytes(notification.change.notificationID.storedBytes),
          ])
      }
      last = (end.database, end.sequence)
    }
  }
}
