extension Schema {
  /// The notification log's index by subscriber, kept as runs: a log-structured merge tree (O'Neil,
  /// Cheng, Gawlick and O'Neil, 1996). As an index of the engine it changed a page at random for each
  /// notification, which was a third of what a save cost that fires ten.
  ///
  /// Run 0 takes what is filed at once. `generation` is that of the entries that a run is being made of,
  /// and `merging_into` the run that takes over its rows. What `unfiled_notifications` tells of, from
  /// the first entry of a database on, is in run 0, in a run that is being made, or in none. `bytes` is the
  /// size of an entry's content, by which a user's log is trimmed.
  static let notificationIndex = [
    """
    CREATE TABLE notification_runs (
      run BIGINT PRIMARY KEY, tier BIGINT NOT NULL, generation BIGINT, merging_into BIGINT)
    """,
    "INSERT INTO notification_runs (run, tier) VALUES (0, 0)",
    """
    CREATE TABLE notification_index (
      run BIGINT NOT NULL, subscriber TEXT NOT NULL, database_id BIGINT NOT NULL,
      sequence BIGINT NOT NULL, logged BIGINT NOT NULL, origin_device TEXT, notification_id BYTEA,
      bytes BIGINT NOT NULL, PRIMARY KEY (run, subscriber, database_id, sequence)) /*clustered*/
    """,
    """
    CREATE TABLE unfiled_notifications (
      generation BIGINT NOT NULL, database_id BIGINT NOT NULL, first_sequence BIGINT NOT NULL,
      PRIMARY KEY (generation, database_id)) /*clustered*/
    """,
  ]
}
