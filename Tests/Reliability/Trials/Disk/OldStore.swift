import CSQLite
import Foundation

/// The file of a store as SQLite alone sees it.
enum OldStore {
  /// The form of stores before their pages had checksums.
  private static let form = 26

  /// Writes the contents of a store into files as the program left them that knew of no checksums, killed:
  /// the last of them in a log.
  static func make(at path: String, of source: String) throws {
    let open = path + "-open"
    let database = try Database(open)
    try database.run(
      "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    try database.run("ATTACH '\(source)' AS source")
    func texts(_ query: String) throws -> [String] {
      try database.rows("SELECT \(query)").compactMap(\.first)
    }
    let definitions = "sql FROM source.sqlite_schema WHERE sql IS NOT NULL AND type = "
    for definition in try texts(definitions + "'table'") { try database.run(definition) }
    for (number, table) in try texts("name FROM source.sqlite_schema WHERE type = 'table'")
      .enumerated()
    {
      try database.run("INSERT INTO main.\(table) SELECT * FROM source.\(table)")
      if number == 20 { try database.run("PRAGMA main.wal_checkpoint") }
    }
    for definition in try texts(definitions + "'index'") { try database.run(definition) }
    // What came with later forms.
    try database.run("ALTER TABLE deliveries ADD COLUMN token TEXT NOT NULL DEFAULT ''")
    try database.run(
      """
      UPDATE deliveries SET token = (
        SELECT token FROM device_numbers WHERE device_numbers.device = deliveries.device)
      """)
    try database.run("DROP INDEX deliveries_owed_to_device")
    try database.run("DROP INDEX deliveries_owed_by_due")
    try database.run("ALTER TABLE deliveries DROP COLUMN device")
    try database.run(
      """
      CREATE INDEX deliveries_due ON deliveries (route, due, database_id, number) WHERE state = 0
      """)
    try database.run(
      """
      CREATE INDEX deliveries_owed_to_token ON deliveries (token, merge_key, database_id, number)
      WHERE state = 0
      """)
    try database.run("DROP INDEX gone_devices_by_token")
    try database.run("DROP TABLE device_numbers")
    try database.run("DELETE FROM counters WHERE name = 'device'")
    try database.run("ALTER TABLE notification_log DROP COLUMN unsent")
    try database.run("ALTER TABLE notification_index DROP COLUMN bytes")
    try database.run("UPDATE store_form SET version = \(form)")
    for suffix in ["", "-wal"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
      try FileManager.default.copyItem(atPath: open + suffix, toPath: path + suffix)
    }
  }

  /// What stands in the tables of a store that nobody has open: each row as text, in order.
  static func contents(of path: String) throws -> [String: [String]] {
    let database = try Database(path)
    var contents: [String: [String]] = [:]
    for row in try database.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") {
      let table = row[0]
      let rows = try database.rows("SELECT * FROM \(table)")
      contents[table] = rows.map { $0.joined(separator: "|") }.sorted()
    }
    return contents
  }

  /// Whether the pages leave room for checksums.
  static func isProtected(_ path: String) throws -> Bool {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    let header = try file.read(upToCount: 100) ?? Data()
    return header.count == 100 && header[20] == 16
  }

  private final class Database {
    private let handle: OpaquePointer

    init(_ path: String) throws {
      var opened: OpaquePointer?
      let result = sqlite3_open_v2(
        path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
      guard result == SQLITE_OK, let opened else { throw TrialError("\(path) cannot be opened") }
      handle = opened
    }

    deinit { sqlite3_close_v2(handle) }

    func run(_ script: String) throws {
      guard sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK else { throw failure(script) }
    }

    func rows(_ query: String) throws -> [[String]] {
      var statement: OpaquePointer?
      guard sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK else {
        throw failure(query)
      }
      defer { sqlite3_finalize(statement) }
      var rows: [[String]] = []
      while sqlite3_step(statement) == SQLITE_ROW {
        rows.append(
          (0..<sqlite3_column_count(statement)).map { column in
            guard sqlite3_column_type(statement, column) == SQLITE_BLOB else {
              return sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "-"
            }
            let count = Int(sqlite3_column_bytes(statement, column))
            return sqlite3_column_blob(statement, column).map {
              Data(bytes: $0, count: count).base64EncodedString()
            } ?? ""
          })
      }
      guard sqlite3_errcode(handle) == SQLITE_DONE || sqlite3_errcode(handle) == SQLITE_OK else {
        throw failure(query)
      }
      return rows
    }

    private func failure(_ script: String) -> TrialError {
      TrialError("\(String(cString: sqlite3_errmsg(handle))): \(script.prefix(200))")
    }
  }
}
