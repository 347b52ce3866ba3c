import CSQLite
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

struct PageCacheTests {
  @Test(
    "Trees that grow and shrink in any order stay whole, in memory and as others read the file",
    arguments: Seeds.some(4))
  func trees(_ seed: Int) async throws {
    try await withTemporaryDirectory { directory in
      var random = SeededGenerator(seed: seed)
      let path = directory + "/a.sqlite"
      let connection = try SQLiteConnection(path: path)
      try connection.execute(
        "CREATE TABLE trees (key BLOB PRIMARY KEY, content BLOB) WITHOUT ROWID;"
          + "CREATE INDEX trees_by_content ON trees (content)")
      var model: [Int64: Int64] = [:]
      for _ in 0..<40 {
        try connection.beginWriting()
        for _ in 0..<200 {
          let key = Int64.random(in: 0..<3_000, using: &random)
          if random.chance(1, in: 3) {
            try connection.run("DELETE FROM trees WHERE key = $1", [.integer(key)])
            model[key] = nil
          } else {
            let size = Int64.random(in: 1..<900, using: &random)
            try connection.run(
              "INSERT OR REPLACE INTO trees VALUES ($1, randomblob($2))",
              [.integer(key), .integer(size)])
            model[key] = size
          }
        }
        try connection.commit()
        let rows = try connection.rows("SELECT key, length(content) FROM trees", []) {
          ($0.integer(0), $0.integer(1))
        }
        try #require(Dictionary(uniqueKeysWithValues: rows) == model, "seed \(seed)")
      }
      let other = try SQLiteConnection(path: path)
      for reader in [connection, other] {
        #expect(try reader.rows("PRAGMA integrity_check", []) { $0.text(0) } == ["ok"])
      }
      other.close()
      connection.close()
    }
  }

  @Test("A file with pages of another size is refused, with what to do")
  func otherSize() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      var plain: OpaquePointer?
      #expect(sqlite3_open(path, &plain) == SQLITE_OK)
      let script = "PRAGMA page_size = 8192; CREATE TABLE some (number INTEGER)"
      #expect(sqlite3_exec(plain, script, nil, nil, nil) == SQLITE_OK)
      sqlite3_close(plain)
      do {
        _ = try await Store.open(at: path)
        Issue.record("a file with pages of 8,192 bytes was opened")
      } catch let error as StoreError {
        #expect(error.code == .cannotOpen)
        #expect(error.reason.contains(path) && error.reason.contains("8192 bytes"))
      }
    }
  }
}
