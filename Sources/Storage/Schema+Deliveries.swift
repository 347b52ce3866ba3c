extension Schema {
  /// Deliveries by the way they go, so that one way that stands still holds up no other.
  ///
  /// `due` of a delivery that a process has taken is when its lease ends, and `leased_by` names the
  /// process. `merge_key` is the same for deliveries to one device of which only the newest need be
  /// sent. `refused_pushes` keeps what APNs refused by a fault of ours.
  static let deliveryRoutes = [
    """
    CREATE TABLE push_routes (
      route BIGINT PRIMARY KEY, kind TEXT NOT NULL, container TEXT NOT NULL,
      apns_environment TEXT NOT NULL, UNIQUE (kind, container, apns_environment))
    """,
    """
    INSERT INTO push_routes (route, kind, container, apns_environment)
    SELECT ROW_NUMBER() OVER (ORDER BY container, apns_environment), 'apns', container,
      apns_environment
    FROM (SELECT DISTINCT container, apns_environment FROM device_tokens WHERE kind = 'apns') AS ways
    """,
    "INSERT INTO counters (name, value) SELECT 'push_route', COUNT(*) FROM push_routes",
    "ALTER TABLE deliveries ADD COLUMN route BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE deliveries ADD COLUMN leased_by BIGINT",
    "ALTER TABLE deliveries ADD COLUMN merge_key TEXT",
    """
    UPDATE deliveries SET route = COALESCE((
      SELECT push_routes.route FROM device_tokens
      JOIN push_routes ON push_routes.kind = device_tokens.kind
        AND push_routes.container = device_tokens.container
        AND push_routes.apns_environment = device_tokens.apns_environment
      WHERE device_tokens.kind = 'apns' AND device_tokens.token = deliveries.token), 0)
    WHERE state = 0
    """,
    """
    UPDATE deliveries SET state = 2, reason = 'the device token is gone'
    WHERE state = 0 AND route = 0
    """,
    "DROP INDEX deliveries_due",
    """
    CREATE INDEX deliveries_due ON deliveries (route, due, database_id, number) WHERE state = 0
    """,
    "DROP INDEX deliveries_owed_to_token",
    """
    CREATE INDEX deliveries_owed_to_token ON deliveries (token, merge_key, database_id, number)
    WHERE state = 0
    """,
    """
    CREATE TABLE refused_pushes (
      database_id BIGINT NOT NULL, number BIGINT NOT NULL, refused BIGINT NOT NULL,
      payload BYTEA NOT NULL, PRIMARY KEY (database_id, number))
    """,
    "CREATE INDEX refused_pushes_by_time ON refused_pushes (refused)",
  ]
}
