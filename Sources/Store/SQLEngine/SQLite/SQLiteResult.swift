import CSQLite

/// The extended result codes of SQLite (https://sqlite.org/rescode.html), which Swift does not
/// import. The first byte is the kind of error, and the second byte gives details.
enum SQLiteResult {
  /// The file ended before all bytes were read.
  static let shortRead = SQLITE_IOERR | 2 << 8
  /// The bytes do not match their checksum.
  static let wrongData = SQLITE_IOERR | 32 << 8
  /// The system could not read.
  private static let failedRead = SQLITE_IOERR | 1 << 8
  /// The file system reported damage of its own, such as a checksum that does not match.
  private static let failedReadOfFileSystem = SQLITE_IOERR | 33 << 8

  /// Turns damage that the file system reported into a failed read. SQLite would treat the
  /// database as damaged, although the disk may recover.
  static func ofRead(_ result: Int32) -> Int32 {
    result == failedReadOfFileSystem ? failedRead : result
  }
}
