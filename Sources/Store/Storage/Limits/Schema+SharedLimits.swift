extension Schema {
  /// What servers that share the store count together; see ``SharedLimits``. Where they do not, the
  /// tables are empty. A row has its subject's hash alone for its key.
  ///
  /// `full_at` is the time, in nanoseconds since 1970, at which a bucket is full when nobody takes of
  /// it: it tells all that is to know of the bucket (the "theoretical arrival time" of the generic
  /// cell rate algorithm, ITU-T I.371). `drawn` and `granted` are of the last draw.
  ///
  /// `/*unlogged*/` marks tables whose rows are of no worth after a crash.
  static let sharedLimits = [
    """
    CREATE /*unlogged*/ TABLE request_allowances (
      subject BYTEA PRIMARY KEY, full_at BIGINT NOT NULL, drawn BIGINT NOT NULL,
      granted BIGINT NOT NULL)
    """,
    """
    CREATE /*unlogged*/ TABLE sign_in_attempts (
      subject BYTEA PRIMARY KEY, wrong BIGINT NOT NULL, last_attempt BIGINT NOT NULL)
    """,
  ]
}
