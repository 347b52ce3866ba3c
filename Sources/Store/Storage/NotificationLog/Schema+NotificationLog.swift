extension Schema {
  /// What users were notified of, the marks on it, and how much of each user's log was trimmed: a row of
  /// `trimmed_logs` for those alone whose entries are gone, in part or all. A mark's position is drawn from
  /// the same numbers as the entries' sequences, so that both stand in one order.
  ///
  /// `unsent` tells why an entry has no deliveries to some devices (``UnsentDeliveries``); it is null where
  /// it has all.
  static let notificationLog = [
    """
    CREATE TABLE notification_log (
      database_id BIGINT NOT NULL, sequence BIGINT NOT NULL, subscriber TEXT NOT NULL,
      origin_device TEXT, logged BIGINT NOT NULL, content BYTEA NOT NULL, notification_id BYTEA,
      unsent BIGINT, PRIMARY KEY (database_id, sequence)) /*clustered*/
    """,
    """
    CREATE TABLE trimmed_logs (
      database_id BIGINT NOT NULL, subscriber TEXT NOT NULL,
      trimmed_through BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (database_id, subscriber))
    """,
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
}
