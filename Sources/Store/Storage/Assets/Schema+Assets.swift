extension Schema {
  /// Uploads and their receipts, the files, which records hold them, and files that are to go.
  ///
  /// `assets.released` is null while a record holds the file, 0 since none does, and the time at
  /// which that was first seen after that.
  static let assets = [
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BYTEA NOT NULL)",
    """
    CREATE TABLE asset_uploads (
      database_id BIGINT NOT NULL, receipt TEXT NOT NULL, token_hash BYTEA,
      user_record_name TEXT NOT NULL, record_name TEXT, record_type TEXT, field_name TEXT,
      expires BIGINT NOT NULL, checksum TEXT, size BIGINT,
      PRIMARY KEY (database_id, receipt), UNIQUE (database_id, token_hash))
    """,
    "CREATE INDEX asset_uploads_by_checksum ON asset_uploads (database_id, checksum)",
    "CREATE INDEX asset_uploads_by_expiry ON asset_uploads (expires)",
    """
    CREATE TABLE assets (
      database_id BIGINT NOT NULL, checksum TEXT NOT NULL, file TEXT NOT NULL,
      size BIGINT NOT NULL, released BIGINT, PRIMARY KEY (database_id, checksum))
    """,
    """
    CREATE INDEX assets_released ON assets (database_id, checksum) WHERE released IS NOT NULL
    """,
    """
    CREATE TABLE asset_references (
      database_id BIGINT NOT NULL, checksum TEXT NOT NULL, record_number BIGINT NOT NULL,
      field_name TEXT NOT NULL,
      PRIMARY KEY (database_id, checksum, record_number, field_name)) /*clustered*/
    """,
    """
    CREATE TABLE asset_disposals (
      database_id BIGINT NOT NULL, file TEXT NOT NULL, PRIMARY KEY (database_id, file))
    """,
  ]
}
