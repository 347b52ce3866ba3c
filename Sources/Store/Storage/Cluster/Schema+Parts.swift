extension Schema {
  /// Which server dispatches the changes of a database. A row of `dispatch_leases` is there for each
  /// database that has changes to dispatch, or had some a moment ago. `awaited` is 1 when another server
  /// than its holder has committed some. What a holder has is free when it is none of the `servers`.
  ///
  /// Databases may be dispatched in parts. A database without a row in `dispatch_leases`, or with one, is
  /// whole; one that is divided into `parts` has a row for each, whether it has changes or not, and
  /// how far it is dispatched in `part_dispatches`. A change is dispatched, and told in `dispatches`,
  /// when all parts are through with it.
  ///
  /// While a division is to be changed, `last_change` is the last change that is dispatched in the parts
  /// there are, and `next_parts` how many come after it.
  static let parts = [
    """
    CREATE TABLE dispatch_leases (
      database_id BIGINT NOT NULL, part BIGINT NOT NULL DEFAULT 0,
      parts BIGINT NOT NULL DEFAULT 1, holder BIGINT NOT NULL, awaited BIGINT NOT NULL,
      last_change BIGINT, next_parts BIGINT, PRIMARY KEY (database_id, part))
    """,
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
