import CSQLite
import CommandInterface
import Foundation

/// A table in a SQLite file, with a prepared statement that reads the table. Benchmarks use it to
/// measure SQLite without Petrel.
///
/// The object deletes the file when it is destroyed. One thread at a time may use the object.
final class BaselineTable {
  /// The prepared statement. It is valid until the object is destroyed.
  let statement: OpaquePointer?
  private let handle: OpaquePointer?
  private let path: String

  /// Creates the file, and fills the table. SQLite's journal and `fsync` are off, because only
  /// reads are measured.
  ///
  /// - Throws: `UsageError` with SQLite's message.
  init(at path: String, filledBy script: String, readBy text: String) throws {
    var handle: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw UsageError("cannot open \(path)") }
    /// Closes and deletes the file, and returns the error for a failed step.
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
