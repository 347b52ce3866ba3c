import CSQLite

/// Extended result codes of SQLite (https://sqlite.org/rescode.html), which Swift does not see.
enum SQLiteResult {
  /// The file ended before all was read.
  static let shortRead = SQLITE_IOERR | 2 << 8
  /// What was read does not match its checksum.
  static let wrongData = SQLITE_IOERR | 32 << 8
}
