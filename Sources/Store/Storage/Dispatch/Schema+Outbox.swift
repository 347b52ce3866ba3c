extension Schema {
  /// The changes, and how far those of each database are dispatched: a row of `dispatches` for each
  /// transaction that dispatched some of them, the last telling how far. So a change is not touched when it
  /// is dispatched; it stays in the outbox and is the history.
  ///
  /// `changes` counts the changes of the database through this row. `settled_subscriber` and
  /// `settled_subscription` tell how far the firings of the change `through` are settled, where they
  /// are too many for one transaction: the last subscription in the order of subscribers and IDs.
  /// `lacks_fields` is 1 for a change that was too large to be kept: what is there of its record has no
  /// fields.
  static let outbox = [
    """
    CREATE TABLE outbox (
      database_id BIGINT NOT NULL, sequence BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, content BYTEA NOT NULL, lacks_fields BIGINT,
      PRIMARY KEY (database_id, sequence)) /*clustered*/
    """,
    """
    CREATE TABLE dispatches (
      database_id BIGINT NOT NULL, through BIGINT NOT NULL, changes BIGINT NOT NULL,
      dispatched BIGINT NOT NULL, settled_subscriber TEXT, settled_subscription TEXT,
      PRIMARY KEY (database_id, through)) /*clustered*/
    """,
  ]
}
