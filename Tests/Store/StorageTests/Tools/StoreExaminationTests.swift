import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

struct StoreExaminationTests {
  private static func look(
    _ path: String, _ depth: StoreExamination.Depth = .quick, within limit: Duration = .seconds(60)
  ) async throws -> StoreExamination {
    try await StoreExamination.look(atStoreAt: path, depth: depth, within: limit)
  }

  /// A store with a record in it, at a path with letters that mean something in URLs.
  private func withStore(_ body: (String, Store) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a b?c#d%41.sqlite"
      var configuration = StoreConfiguration(role: .server)
      configuration.tuning.cacheKilobytes = 4096
      let store = try await Store.open(at: path, configuration: configuration)
      _ = try await TestStore(store).save("n", ["x": .int64(1)])
      try await body(path, store)
      await store.close()
    }
  }

  @Test("tells the form, and that a server has it open, and leaves all files as they are")
  func served() async throws {
    try await withStore { path, store in
      let folder = (path as NSString).deletingLastPathComponent
      let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      let log = FileManager.default.contents(atPath: path + "-wal")
      let found = try await Self.look(path, .full)
      #expect(found.schemaVersion == StoreExamination.newestVersion)
      #expect(found.faults == [] && found.isComplete && found.isServed)
      #expect(found.logBytes > 0 && found.logBytes == log?.count)
      #expect(FileManager.default.contents(atPath: path + "-wal") == log)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)

      await store.close()
      let closed = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(try await Self.look(path, .full).isServed == false)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == closed)
    }
  }

  @Test("the log of a process that was killed is read, and stays")
  func leftLog() async throws {
    try await withStore { path, store in
      let copy = path + ".copy"
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      let log = FileManager.default.contents(atPath: copy + "-wal")
      let found = try await Self.look(copy)
      // The database itself has nothing yet.
      #expect(found.schemaVersion == StoreExamination.newestVersion && found.faults == [])
      #expect(FileManager.default.contents(atPath: copy + "-wal") == log)
    }
  }

  @Test("what is no store is told from one that is damaged")
  func others() async throws {
    try await withTemporaryDirectory { directory in
      await #expect(throws: StoreError.self) { try await Self.look(directory + "/none") }
      let empty = directory + "/empty"
      try Data().write(to: URL(fileURLWithPath: empty))
      #expect(try await Self.look(empty) == StoreExamination())
      let text = directory + "/text"
      try Data(repeating: 0x41, count: 9_000).write(to: URL(fileURLWithPath: text))
      #expect(try await Self.look(text).faults.first?.contains("not a SQLite database") == true)
      let foreign = directory + "/foreign"
      let connection = try SQLiteConnection(path: foreign)
      try connection.execute("CREATE TABLE t (a)")
      connection.close()
      let found = try await Self.look(foreign)
      #expect(found.schemaVersion == nil && found.faults == [] && found.bytes > 0)
    }
  }

  @Test("an index that disagrees with its table is found by the full look alone")
  func indexes() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let connection = try SQLiteConnection(path: path)
      try connection.execute(
        """
        CREATE TABLE t (a, b);
        CREATE INDEX i ON t (a);
        INSERT INTO t VALUES (1, 2), (3, 4);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (b)' WHERE name = 'i'
        """)
      connection.close()
      #expect(try await Self.look(path, .quick).faults == [])
      #expect(try await Self.look(path, .full).faults.contains { $0.contains("index i") })
    }
  }

  @Test("a look that is broken off reports no damage that there is not")
  func brokenOff() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let connection = try SQLiteConnection(path: path)
      try connection.execute(
        """
        CREATE TABLE t (a INTEGER PRIMARY KEY, b);
        CREATE INDEX i ON t (b);
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 50000)
        INSERT INTO t SELECT x, hex(randomblob(50)) FROM n
        """)
      connection.close()
      for milliseconds in 0..<20 {
        let found = try await Self.look(path, .full, within: .milliseconds(milliseconds))
        #expect(found.faults == [])
      }
    }
  }
}
