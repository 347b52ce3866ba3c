import CSQLite

/// Extended result codes of SQLite (https://sqlite.org/rescode.html), which Swift does not see.
enum SQLiteResult {
  /// The file ended before all was read.
  static let shortRead = SQLITE_IOERR | 2 << 8
  /// What was read does not match its checksum.
  static let wrongData = SQLITE_IOERR | 32 << 8
  private static let failedRead = SQLITE_IOERR | 1 << 8
  private static let failedReadOfFileSystem = SQLITE_IOERR | 33 << 8

  /// The result of a read that may have failed with an error of the disk, which SQLite's own file system
  /// gives in a way that SQLite takes for damage. A disk may be well again, and what could not be read need
  /// not be wrong.
  static func ofRead(_ result: Int32) -> Int32 {
    result == failedReadOfFileSystem ? failedRead : result
  }
}
