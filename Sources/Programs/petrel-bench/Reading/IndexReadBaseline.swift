import CSQLite
import Foundation

/// The baseline for queries: the time in which SQLite alone reads 200 adjacent rows of an index.
enum IndexReadBaseline {
  private static let rows = 1_000_000

  /// Fills a table with a million rows in the order of an index, and reads 200 rows from
  /// pseudorandom places several times.
  ///
  /// - Parameter path: The file of the table, which is deleted at the end.
  ///
  /// - Returns: The seconds of each read.
  static func measure(at path: String, reads: Int = 500) throws -> [Double] {
    let script = """
      CREATE TABLE entries (
        field BIGINT NOT NULL, key BLOB NOT NULL, record BIGINT NOT NULL,
        PRIMARY KEY (field, key, record)) WITHOUT ROWID;
      WITH RECURSIVE numbers (number) AS (
        SELECT 0 UNION ALL SELECT number + 1 FROM numbers LIMIT \(rows))
      INSERT INTO entries SELECT 1, CAST(printf('%08d', number) AS BLOB), number FROM numbers;
      """
    let text = """
      SELECT key, record FROM entries WHERE field = 1 AND key >= ?
      ORDER BY key, record LIMIT 200
      """
    let table = try BaselineTable(at: path, filledBy: script, readBy: text)
    let statement = table.statement
    defer { withExtendedLifetime(table) {} }
    return (0..<reads).map { number in
      let start = monotonicSeconds()
      let place = Int(SplitMix64.bits(of: UInt64(number)) % UInt64(rows - 200))
      let key = Array(String(format: "%08d", place).utf8)
      sqlite3_bind_blob(
        statement, 1, key, Int32(key.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      var sum: Int64 = 0
      while sqlite3_step(statement) == SQLITE_ROW {
        sum &+= sqlite3_column_int64(statement, 1) &+ Int64(sqlite3_column_bytes(statement, 0))
      }
      sqlite3_reset(statement)
      return monotonicSeconds() - start
    }
  }
}
