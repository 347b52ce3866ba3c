import CSQLite
import CommandInterface
import Foundation

/// A table of SQLite alone and a statement that reads it, for baselines. Its file goes with it.
final class BaselineTable {
  let statement: OpaquePointer?
  private let handle: OpaquePointer?
  private let path: String

  /// Makes and fills the table without a thought for durability.
  init(at path: String, filledBy script: String, readBy text: String) throws {
    var handle: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw UsageError("cannot open \(path)") }
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
