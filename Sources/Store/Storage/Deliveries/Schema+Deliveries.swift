extension Schema {
  /// Deliveries by the way they go, so that one way that stands still holds up no other.
  ///
  /// `due` of a delivery that a process has taken is when its lease ends, and `leased_by` names the
  /// process. `merge_key` is the same for deliveries to one device of which only the newest need be
  /// sent, and `merged_into` names that. `refused_pushes` keeps what APNs refused by a fault of ours.
  static let deliveries = [
    """
    CREATE TABLE push_routes (
      route BIGINT PRIMARY KEY, kind TEXT NOT NULL, container TEXT NOT NULL,
      apns_environment TEXT NOT NULL, UNIQUE (kind, container, apns_environment))
    """,
    """
    CREATE TABLE deliveries (
      database_id BIGINT NOT NULL, number BIGINT NOT NULL, log_sequence BIGINT NOT NULL,
      device BIGINT NOT NULL, badge BIGINT, due BIGINT NOT NULL, attempts BIGINT NOT NULL,
      state BIGINT NOT NULL, reason TEXT, updated BIGINT NOT NULL, route BIGINT NOT NULL,
      leased_by BIGINT, merge_key TEXT, merged_into BIGINT,
      PRIMARY KEY (database_id, number)) /*clustered*/
    """,
    """
    CREATE INDEX deliveries_owed_by_due ON deliveries (route, due, database_id, number)
    WHERE state = 0
    """,
    """
    CREATE INDEX deliveries_owed_to_device
    ON deliveries (device, merge_key, database_id, number) WHERE state = 0
    """,
    """
    CREATE TABLE refused_pushes (
      database_id BIGINT NOT NULL, number BIGINT NOT NULL, refused BIGINT NOT NULL,
      payload BYTEA NOT NULL, PRIMARY KEY (database_id, number))
    """,
    "CREATE INDEX refused_pushes_by_time ON refused_pushes (refused)",
  ]
}
