extension Schema {
  /// How far the changes of each database are dispatched: a row for each transaction that dispatched
  /// some of them, the last telling how far. So a change is not touched when it is dispatched; it
  /// stays in the outbox and is the history.
  ///
  /// `changes` counts the changes of the database through this row. `settled_subscriber` and
  /// `settled_subscription` tell how far the firings of the change `through` are settled, where they
  /// are too many for one transaction. Of a change too large to be kept the outbox has its record's
  /// name in place of its content.
  static let dispatches = [
    """
    CREATE TABLE dispatches (
      database_id BIGINT NOT NULL, through BIGINT NOT NULL, changes BIGINT NOT NULL,
      dispatched BIGINT NOT NULL, settled_subscriber TEXT, settled_subscription TEXT,
      PRIMARY KEY (database_id, through)) /*clustered*/
    """,
    """
    INSERT INTO dispatches (database_id, through, changes, dispatched)
    SELECT database_id, sequence, ROW_NUMBER() OVER (PARTITION BY database_id ORDER BY sequence),
      dispatched
    FROM change_history WHERE NOT EXISTS (
      SELECT 1 FROM outbox WHERE outbox.database_id = change_history.database_id
        AND outbox.sequence <= change_history.sequence)
    """,
    """
    INSERT INTO dispatches
      (database_id, through, changes, dispatched, settled_subscriber, settled_subscription)
    SELECT database_id, sequence, 1 + (
        SELECT COUNT(*) FROM change_history WHERE change_history.database_id = outbox.database_id),
      0, settled_subscriber, settled_subscription
    FROM outbox WHERE settled_subscriber IS NOT NULL
    """,
    "ALTER TABLE outbox DROP COLUMN settled_subscriber",
    "ALTER TABLE outbox DROP COLUMN settled_subscription",
    "ALTER TABLE outbox ADD COLUMN record_name TEXT",
    """
    INSERT INTO outbox (database_id, sequence, subscription_version, content, record_name)
    SELECT change_history.database_id, sequence, subscription_version, COALESCE(content, ''),
      CASE WHEN content IS NULL THEN record_name END
    FROM change_history JOIN dispatches
      ON dispatches.database_id = change_history.database_id
      AND dispatches.through = change_history.sequence
    """,
    "DROP TABLE change_history",
  ]
}
