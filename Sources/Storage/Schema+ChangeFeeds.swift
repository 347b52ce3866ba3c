extension Schema {
  static let changeFeedsVersion: Int64 = 3

  /// What a client needs to be told what became of records and zones since it last asked.
  ///
  /// `trimmed_version` is the newest deletion that was forgotten. No change token was ever given
  /// from before the deletions that have the time 0.
  static let changeFeeds = [
    "ALTER TABLE tombstones ADD COLUMN deleted BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE zones ADD COLUMN trimmed_version BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE databases ADD COLUMN trimmed_version BIGINT NOT NULL DEFAULT 0",
    """
    CREATE INDEX records_by_version
    ON records (database_id, zone_number, version, type_number)
    """,
    "CREATE INDEX tombstones_by_version ON tombstones (database_id, zone_number, version)",
    """
    CREATE TABLE zone_tombstones (
      database_id BIGINT NOT NULL, zone_name TEXT NOT NULL, owner_name TEXT NOT NULL,
      version BIGINT NOT NULL, deleted BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_name, owner_name))
    """,
    """
    CREATE TABLE client_change_tokens (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, user_record_name TEXT NOT NULL,
      device_id TEXT NOT NULL, saved BIGINT NOT NULL, data BYTEA NOT NULL,
      PRIMARY KEY (database_id, zone_number, user_record_name, device_id))
    """,
  ]
}
