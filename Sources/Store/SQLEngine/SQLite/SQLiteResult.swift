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

  /// Returns the result code of a read for SQLite. If the file system reported damage of its own,
  /// this is the code of a failed read. Otherwise SQLite would treat the database as damaged,
  /// although the disk may recover, and data that cannot be read need not be wrong.
  static func ofRead(_ result: Int32) -> Int32 {
    result == failedReadOfFileSystem ? failedRead : result
  }
}
