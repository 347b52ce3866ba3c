import CSQLite

/// The extended result codes of SQLite (https://sqlite.org/rescode.html), which Swift does not
/// import. Their second byte says more about the error in the first.
enum SQLiteResult {
  /// The file ended before all bytes were read.
  static let shortRead = SQLITE_IOERR | 2 << 8
  /// The bytes do not match their checksum.
  static let wrongData = SQLITE_IOERR | 32 << 8
  /// The system could not read.
  private static let failedRead = SQLITE_IOERR | 1 << 8
  /// The file system reported damage of its own, such as a checksum that does not match.
  private static let failedReadOfFileSystem = SQLITE_IOERR | 33 << 8

  /// Maps a disk error that SQLite's own file system reports in a way that SQLite takes for damage.
  /// A disk may recover, and unreadable data need not be wrong.
  static func ofRead(_ result: Int32) -> Int32 {
    result == failedReadOfFileSystem ? failedRead : result
  }
}
