import CSQLite
import Foundation

/// The baseline for change feeds: the rate at which SQLite alone reads rows in the order of an
/// index.
enum RowReadBaseline {
  /// Fills a table with rows of a given size, and reads all rows in pages of 200.
  ///
  /// - Parameters:
  ///   - path: The file of the table, which is deleted at the end.
  ///   - bytes: The size of a row's content in bytes.
  /// - Returns: The rows read a second.
  static func measure(at path: String, rows: Int, bytes: Int) throws -> Double {
    let script = """
      CREATE TABLE rows (
        number INTEGER PRIMARY KEY, version BIGINT NOT NULL, content BLOB NOT NULL);
      WITH RECURSIVE numbers (number) AS (
        SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT \(rows))
      INSERT INTO rows SELECT number, number * 7919 % \(rows), randomblob(\(bytes)) FROM numbers;
      CREATE INDEX rows_by_version ON rows (version);
      """
    let text = "SELECT version, content FROM rows WHERE version > ? ORDER BY version LIMIT 200"
    let table = try BaselineTable(at: path, filledBy: script, readBy: text)
    let statement = table.statement
    defer { withExtendedLifetime(table) {} }
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
