extension Schema {
  /// What a client needs to be told what became of records and zones since it last asked.
  ///
  /// `trimmed_version` of a zone or a database is the newest deletion that was forgotten.
  static let changeFeeds = [
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
