import CSQLite
import CommandInterface
import Foundation

/// A table of SQLite alone with a prepared statement that reads it, for baselines.
///
/// The file is deleted with the object. One thread at a time may use it.
final class BaselineTable {
  /// The prepared statement. It is valid as long as the object lives.
  let statement: OpaquePointer?
  private let handle: OpaquePointer?
  private let path: String

  /// Creates and fills the table. Journal and `fsync` are off, because only reads are measured.
  ///
  /// - Parameters:
  ///   - path: The file to create.
  ///   - script: The SQL statements that create and fill the table.
  ///   - text: The SQL statement to prepare.
  /// - Throws: `UsageError` with SQLite's message.
  init(at path: String, filledBy script: String, readBy text: String) throws {
    var handle: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw UsageError("cannot open \(path)") }
    /// Returns the error for a failed step, after closing and deleting the file.
    func failure(_ what: String) -> UsageError {
      defer {
        sqlite3_close_v2(handle)
        unlink(path)
      }
      return UsageError("cannot \(what) \(path): \(String(cString: sqlite3_errmsg(handle)))")
    }
    let settings = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    guard sqlite3_exec(handle, settings + script, nil, nil, nil) == SQLITE_OK else {
      throw failure("fill")
    }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK else {
      throw failure("read")
    }
    self.handle = handle
    self.statement = statement
    self.path = path
  }

  deinit {
    sqlite3_finalize(statement)
    sqlite3_close_v2(handle)
    unlink(path)
  }
}
