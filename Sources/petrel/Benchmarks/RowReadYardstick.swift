import CSQLite
import Foundation

/// How fast SQLite alone reads rows in the order of an index: the yardstick for change feeds.
enum RowReadYardstick {
  /// Fills a table with rows of so many bytes and reads them in pages of 200.
  ///
  /// - Returns: rows a second.
  static func measure(at path: String, rows: Int, bytes: Int) throws -> Double {
    var handle: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw UsageError("cannot open \(path)") }
    defer {
      sqlite3_close_v2(handle)
      unlink(path)
    }
    let script = """
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      CREATE TABLE rows (
        number INTEGER PRIMARY KEY, version BIGINT NOT NULL, content BLOB NOT NULL);
      WITH RECURSIVE numbers (number) AS (
        SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT \(rows))
      INSERT INTO rows SELECT number, number * 7919 % \(rows), randomblob(\(bytes)) FROM numbers;
      CREATE INDEX rows_by_version ON rows (version);
      """
    guard sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK else {
      throw UsageError("cannot fill \(path): \(String(cString: sqlite3_errmsg(handle)))")
    }
    var statement: OpaquePointer?
    let text = "SELECT version, content FROM rows WHERE version > ? ORDER BY version LIMIT 200"
    guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK else {
      throw UsageError("cannot read \(path): \(String(cString: sqlite3_errmsg(handle)))")
    }
    defer { sqlite3_finalize(statement) }
    let start = monotonicSeconds()
    var last: Int64 = -1
    var count = 0
    while true {
      sqlite3_bind_int64(statement, 1, last)
      let before = count
      while sqlite3_step(statement) == SQLITE_ROW {
        last = sqlite3_column_int64(statement, 0)
        count += sqlite3_column_blob(statement, 1) == nil ? 0 : 1
      }
      sqlite3_reset(statement)
      if count == before { break }
    }
    return Double(count) / (monotonicSeconds() - start)
  }
}
