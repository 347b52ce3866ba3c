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

  /// Returns the result code of a read for SQLite. It replaces the code by which SQLite's own file
  /// system reports a disk's damage with that of a failed read, because SQLite would treat the
  /// database as damaged. The disk may recover, and data that cannot be read need not be wrong.
  static func ofRead(_ result: Int32) -> Int32 {
    result == failedReadOfFileSystem ? failedRead : result
  }
}
