extension Schema {
  /// Databases that are dispatched in parts. A database without a row in `dispatch_leases`, or with one,
  /// is whole; one that is divided into `parts` has a row for each, whether it has changes or not, and
  /// how far it is dispatched in `part_dispatches`. A change is dispatched, and told in `dispatches`,
  /// when all parts are through with it.
  ///
  /// While a division is to be changed, `last_change` is the last change that is dispatched in the parts
  /// there are, and `next_parts` how many come after it.
  static let parts = [
    """
    CREATE TABLE leases_of_parts (
      database_id BIGINT NOT NULL, part BIGINT NOT NULL DEFAULT 0,
      parts BIGINT NOT NULL DEFAULT 1, holder BIGINT NOT NULL, awaited BIGINT NOT NULL,
      last_change BIGINT, next_parts BIGINT, PRIMARY KEY (database_id, part))
    """,
    """
    INSERT INTO leases_of_parts (database_id, holder, awaited)
    SELECT database_id, holder, awaited FROM dispatch_leases
    """,
    "DROP TABLE dispatch_leases",
    "ALTER TABLE leases_of_parts RENAME TO dispatch_leases",
    "CREATE INDEX dispatch_leases_by_holder ON dispatch_leases (holder, awaited)",
    "CREATE INDEX dispatch_leases_of_parts ON dispatch_leases (database_id) WHERE parts > 1",
    """
    CREATE TABLE part_dispatches (
      database_id BIGINT NOT NULL, part BIGINT NOT NULL, through BIGINT NOT NULL,
      changes BIGINT NOT NULL, settled_subscriber TEXT, settled_subscription TEXT,
      PRIMARY KEY (database_id, part)) /*clustered*/
    """,
  ]
}
