/// What turns a store of the newest form into one of an earlier form, as programs of that time wrote it.
enum OldForms {
  /// Deliveries have their devices' tokens, and no numbers.
  static let form30 = [
    "ALTER TABLE deliveries ADD COLUMN token TEXT NOT NULL DEFAULT ''",
    """
    UPDATE deliveries SET token = (
      SELECT token FROM device_numbers WHERE device_numbers.device = deliveries.device)
    """,
    "DROP INDEX deliveries_owed_to_device",
    "DROP INDEX deliveries_owed_by_due",
    "ALTER TABLE deliveries DROP COLUMN device",
    """
    CREATE INDEX deliveries_due ON deliveries (route, due, database_id, number) WHERE state = 0
    """,
    """
    CREATE INDEX deliveries_owed_to_token ON deliveries (token, merge_key, database_id, number)
    WHERE state = 0
    """,
    "DROP INDEX gone_devices_by_token",
    "DROP TABLE device_numbers",
    "DELETE FROM counters WHERE name = 'device'",
    "UPDATE store_form SET version = 30",
  ]

  /// Log entries do not tell what was not sent; pages have no checksums.
  static let form26 =
    form30 + [
      "ALTER TABLE notification_log DROP COLUMN unsent",
      "ALTER TABLE notification_index DROP COLUMN bytes",
      "UPDATE store_form SET version = 26",
    ]
}
