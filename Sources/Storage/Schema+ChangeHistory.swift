extension Schema {
  /// The latest changes of each database, for those who ask why a push came or did not: so many that
  /// each new one takes the slot of the oldest. Devices that are gone, and in whose favour a delivery
  /// was merged, are kept for the same.
  static let changeHistory = [
    """
    CREATE TABLE change_history (
      database_id BIGINT NOT NULL, slot BIGINT NOT NULL, sequence BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, dispatched BIGINT NOT NULL, record_name TEXT,
      content BYTEA, PRIMARY KEY (database_id, slot)) /*clustered*/
    """,
    """
    CREATE TABLE gone_devices (
      user_record_name TEXT NOT NULL, kind TEXT NOT NULL, token TEXT NOT NULL,
      container TEXT NOT NULL, environment TEXT NOT NULL, registered BIGINT NOT NULL,
      gone BIGINT NOT NULL, reason TEXT NOT NULL,
      PRIMARY KEY (user_record_name, kind, token))
    """,
    "CREATE INDEX gone_devices_by_time ON gone_devices (gone)",
    "ALTER TABLE deliveries ADD COLUMN merged_into BIGINT",
  ]
}
