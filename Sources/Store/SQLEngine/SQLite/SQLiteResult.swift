import CSQLite

/// SQLite's extended result codes (https://sqlite.org/rescode.html), which Swift does not import.
enum SQLiteResult {
  /// The file ended before all bytes were read.
  static let shortRead = SQLITE_IOERR | 2 << 8
  /// The bytes do not match their checksum.
  static let wrongData = SQLITE_IOERR | 32 << 8
  private static let failedRead = SQLITE_IOERR | 1 << 8
  private static let failedReadOfFileSystem = SQLITE_IOERR | 33 << 8

  /// Maps a disk error that SQLite's own file system reports in a way that SQLite takes for damage.
  /// A disk may recover, and unreadable data need not be wrong.
  static func ofRead(_ result: Int32) -> Int32 {
    result == failedReadOfFileSystem ? failedRead : result
  }
}
