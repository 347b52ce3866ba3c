import Foundation
import PropertyTesting
import Testing

@testable import SQLEngine

/// Tests of the bytes in a file's pages beside the rows.
struct BTreePageTests {
  /// A number that comes with what it is of, so that its text is found nowhere else. It begins with two signs, for an
  /// overflow page begins with the number of the next page: where that is 60, its last byte is one of them, before the
  /// rest of a text.
  private static func mark(_ key: Int, _ version: Int) -> String { "<<\(key):\(version)>" }

  @Test(
    "after random changes the file holds nothing of what was deleted or overwritten",
    arguments: Seeds.some(4))
  func randomChanges(_ seed: Int) async throws {
    try await withTemporaryDirectory { directory in
      var random = SeededGenerator(seed: seed)
      let path = directory + "/store.sqlite"
      let connection = try SQLiteConnection(path: path)
      defer { connection.close() }
      try connection.execute(
        """
        CREATE TABLE things (key BIGINT PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL);
        CREATE TABLE names (name TEXT PRIMARY KEY, key BIGINT NOT NULL) WITHOUT ROWID;
        """)
      var rows: [Int: String] = [:]
      var gone: Set<String> = []
      var pagesWithCells = 0
      for version in 0..<40 {
        try connection.beginWriting()
        for _ in 0..<Int.random(in: 1...60, using: &random) {
          let key = Int.random(in: 0..<300, using: &random)
          if let old = rows.removeValue(forKey: key) {
            gone.insert(old)
            try connection.run("DELETE FROM names WHERE name = $1", [.text(old)])
            try connection.run("DELETE FROM things WHERE key = $1", [.integer(Int64(key))])
          }
          guard Int.random(in: 0..<3, using: &random) > 0 else { continue }
          let name = Self.mark(key, version)
          // Short ones, and ones that go on in other pages.
          let length = Bool.random(using: &random) ? 10 : Int.random(in: 0...2_000, using: &random)
          rows[key] = name
          gone.remove(name)
          try connection.run(
            "INSERT INTO things (key, name, value) VALUES ($1, $2, $3)",
            [
              .integer(Int64(key)), .text(name), .text(String(repeating: name, count: length)),
            ])
          try connection.run(
            "INSERT INTO names (name, key) VALUES ($1, $2)", [.text(name), .integer(Int64(key))])
        }
        try connection.commit()
        guard version % 8 == 7 else { continue }
        #expect(try connection.eraseLog())
        pagesWithCells = try Self.check(path, lacks: gone, has: Set(rows.values))
      }
      #expect(pagesWithCells > 10)
      let check = try connection.first("PRAGMA integrity_check", []) { $0.text(0) }
      #expect(check == "ok")
      let names = try connection.rows("SELECT name FROM things", []) { $0.text(0) }
      #expect(Set(names) == Set(rows.values))
      let lengths = try connection.rows("SELECT name, value FROM things", []) {
        (name: $0.text(0), value: $0.text(1))
      }
      for row in lengths {
        #expect(row.value.utf8.count % row.name.utf8.count == 0)
        #expect(row.value.replacing(row.name, with: "") == "")
      }
    }
  }

  /// Looks for texts in a file.
  ///
  /// - Returns: how many pages of b-trees it has.
  private static func check(
    _ path: String, lacks gone: Set<String>, has rows: Set<String>
  ) throws -> Int {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let text = String(decoding: data, as: UTF8.self)
    let found = Set(text.matches(of: /<<\d+:\d+>/).map { String($0.output) })
    #expect(found.isDisjoint(with: gone), "\(found.intersection(gone))")
    #expect(rows.isSubset(of: found))
    var count = 0
    for start in stride(from: 0, to: data.count, by: PageCache.pageSize) {
      let page = [UInt8](data[start..<start + PageCache.pageSize])
      let number = UInt32(start / PageCache.pageSize + 1)
      let (hasGap, remains) = page.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return (false, 0..<0) as (Bool, Range<Int>?) }
        return (
          BTreePage.gap(of: base, number: number) != nil,
          BTreePage.remains(on: base, number: number)
        )
      }
      if hasGap { count += 1 }
      #expect(remains == nil)
    }
    return count
  }

  @Test("a store's file cannot become so large that a page of another kind looks like a b-tree's")
  func greatestSize() async throws {
    try await withTemporaryDirectory { directory in
      let connection = try SQLiteConnection(path: directory + "/store.sqlite")
      defer { connection.close() }
      let limit = try connection.first("PRAGMA max_page_count", []) { $0.integer(0) }
      #expect(limit == 0x1FF_FFFF)
      let overwrites = try connection.first("PRAGMA secure_delete", []) { $0.integer(0) }
      #expect(overwrites == 1)
      var page = [UInt8](repeating: 0xFF, count: PageCache.pageSize)
      // What an overflow page begins with: the number of the next.
      for number in [0, 1, 0x1FF_FFFF] as [UInt32] {
        page.replaceSubrange(0..<4, with: withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) })
        page.withUnsafeBytes { bytes in
          guard let base = bytes.baseAddress else { return }
          #expect(BTreePage.gap(of: base, number: 7) == nil)
        }
      }
    }
  }
}
