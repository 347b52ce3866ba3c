extension Schema {
  /// Numbers for the tokens of devices that are sent to. A delivery has its device's number and not its
  /// token, which is long, and would stand in the row and in an index.
  ///
  /// A token keeps its number when it changes hands and when its device is gone, for as long as
  /// deliveries to it and `gone_devices` are kept. A number is never given twice.
  static let deviceNumbers = [
    """
    CREATE TABLE device_numbers (device BIGINT PRIMARY KEY, token TEXT NOT NULL UNIQUE) /*clustered*/
    """,
    """
    INSERT INTO device_numbers (device, token)
    SELECT ROW_NUMBER() OVER (ORDER BY token), token FROM (
      SELECT token FROM device_tokens WHERE kind <> 'courier' UNION SELECT token FROM deliveries)
      AS tokens
    """,
    "INSERT INTO counters (name, value) SELECT 'device', COUNT(*) FROM device_numbers",
    """
    CREATE TABLE numbered_deliveries (
      database_id BIGINT NOT NULL, number BIGINT NOT NULL, log_sequence BIGINT NOT NULL,
      device BIGINT NOT NULL, badge BIGINT, due BIGINT NOT NULL, attempts BIGINT NOT NULL,
      state BIGINT NOT NULL, reason TEXT, updated BIGINT NOT NULL, route BIGINT NOT NULL,
      leased_by BIGINT, merge_key TEXT, merged_into BIGINT,
      PRIMARY KEY (database_id, number)) /*clustered*/
    """,
    """
    CREATE INDEX deliveries_owed_by_due ON numbered_deliveries (route, due, database_id, number)
    WHERE state = 0
    """,
    """
    CREATE INDEX deliveries_owed_to_device
    ON numbered_deliveries (device, merge_key, database_id, number) WHERE state = 0
    """,
    "CREATE INDEX gone_devices_by_token ON gone_devices (token)",
  ]

  /// How many deliveries are moved by one statement.
  private static let movedAtOnce: Int64 = 20_000

  /// Gives the deliveries their devices' numbers.
  ///
  /// They are moved in pieces, and none is left when their old table is dropped: SQLite keeps in memory
  /// what a page was before a statement changed it, until the statement ends.
  @Sendable static func numberDevicesOfDeliveries(_ connection: any SQLConnection) throws {
    var last: Delivery.ID?
    repeat {
      last = try connection.first(
        "SELECT database_id, number FROM deliveries ORDER BY database_id, number LIMIT 1 OFFSET $1",
        [.integer(movedAtOnce - 1)], Delivery.ID.init(row:))
      let end: [SQLValue] = [
        .integer(last?.database.rawValue ?? .max), .integer(last?.number ?? .max),
      ]
      // SQLite keeps the order of a cross join: it goes through deliveries, and adds at the end.
      try connection.run(
        """
        INSERT INTO numbered_deliveries (database_id, number, log_sequence, device, badge, due,
          attempts, state, reason, updated, route, leased_by, merge_key, merged_into)
        SELECT database_id, number, log_sequence, device, badge, due, attempts, state, reason, updated,
          route, leased_by, merge_key, merged_into
        FROM deliveries CROSS JOIN device_numbers
        WHERE device_numbers.token = deliveries.token AND (database_id, number) <= ($1, $2)
        """, end)
      try connection.run("DELETE FROM deliveries WHERE (database_id, number) <= ($1, $2)", end)
    } while last != nil
    try connection.execute("DROP TABLE deliveries")
    try connection.execute("ALTER TABLE numbered_deliveries RENAME TO deliveries")
  }
}
