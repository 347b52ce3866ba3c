extension Schema {
  /// Users who are being deleted. Their rows stay without the user's name for
  /// ``UserTraces/refusalMilliseconds`` after that, so that requests that were under way then are refused:
  /// `user_hash` is the SHA-256 of the user record name.
  ///
  /// `stage` and the place in a database tell how far the deletion is.
  static let userDeletions = [
    """
    CREATE TABLE user_deletions (
      user_hash BYTEA PRIMARY KEY, user_record_name TEXT, public_records TEXT NOT NULL,
      stage BIGINT NOT NULL, database_number BIGINT NOT NULL, position BIGINT NOT NULL,
      done BIGINT NOT NULL, began BIGINT NOT NULL, ended BIGINT)
    """
  ]
}
