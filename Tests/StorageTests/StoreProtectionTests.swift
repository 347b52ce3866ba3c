import CSQLite
import CloudKitModel
import Foundation
import Testing

@testable import Storage

@Suite("Giving checksums to a store that has none")
struct StoreProtectionTests {
  /// Writes the contents of a store into a file as programs did that knew of no checksums.
  static func makeUnprotected(_ path: String, of source: String) throws {
    var handle: OpaquePointer?
    #expect(
      sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK)
    defer { sqlite3_close_v2(handle) }
    func run(_ script: String) {
      #expect(sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK, "\(script)")
    }
    func texts(_ query: String) -> [String] {
      var statement: OpaquePointer?
      #expect(sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK)
      defer { sqlite3_finalize(statement) }
      var texts: [String] = []
      while sqlite3_step(statement) == SQLITE_ROW {
        if let text = sqlite3_column_text(statement, 0) { texts.append(String(cString: text)) }
      }
      return texts
    }
    run("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; ATTACH '\(source)' AS source")
    let definitions = "SELECT sql FROM source.sqlite_schema WHERE sql IS NOT NULL AND type = "
    for definition in texts(definitions + "'table'") { run(definition) }
    for table in texts("SELECT name FROM source.sqlite_schema WHERE type = 'table'") {
      run("INSERT INTO main.\(table) SELECT * FROM source.\(table)")
    }
    for definition in texts(definitions + "'index'") { run(definition) }
    for statement in OldForms.form26 { run(statement) }
  }

  private static func isProtected(_ path: String) -> Bool { DatabaseFile.isSealed(fileAt: path) }

  @Test("a server's start converts the file, with all that is in it; a tool leaves it as it is")
  func conversion() async throws {
    try await withTemporaryDirectory { directory in
      let (path, old) = (directory + "/a.sqlite", directory + "/old.sqlite")
      try await StoreSample.fill(path)
      let model = try await StoreSample.model(of: path)
      try Self.makeUnprotected(old, of: path)
      #expect(Self.isProtected(path) && !Self.isProtected(old))
      #expect(try await StoreSample.model(of: old) == model)
      #expect(!Self.isProtected(old))
      try await StoreBackup.make(ofStoreAt: old, in: directory + "/copy")
      // What one that was killed left.
      try Data(repeating: 1, count: 9_000).write(
        to: URL(fileURLWithPath: old + ".protecting"))
      for _ in 0..<2 {
        let store = try await SQLRecordStore.open(
          at: old, configuration: StoreSample.configuration(.server))
        try await TestStore(store).save("more", ["x": .int64(1)])
        _ = try await TestStore(store).delete("more")
        await store.close()
        #expect(Self.isProtected(old))
      }
      let files = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(files.filter { $0.contains("protecting") } == [])
      let found = try await StoreExamination.look(
        atStoreAt: old, depth: .full, within: .seconds(60))
      #expect(found.faults == [] && found.form == StoreExamination.newestForm)
      for (reading, text) in try await StoreSample.model(of: old) where reading != .outbox {
        #expect(text == model[reading], "\(reading)")
      }
      // A backup from before is restored, and converted then.
      let restored = directory + "/new/petrel.sqlite"
      try await StoreBackup.restore(from: directory + "/copy", toStoreAt: restored)
      #expect(!Self.isProtected(restored))
      let store = try await SQLRecordStore.open(
        at: restored, configuration: StoreSample.configuration(.server))
      await store.close()
      #expect(Self.isProtected(restored))
    }
  }

  @Test("while another process has the store open it stays as it is, and the start says why")
  func busy() async throws {
    try await withTemporaryDirectory { directory in
      let (path, old) = (directory + "/a.sqlite", directory + "/old.sqlite")
      try await StoreSample.fill(path)
      try Self.makeUnprotected(old, of: path)
      var configuration = StoreSample.configuration(.server)
      configuration.tuning.busyTimeoutMilliseconds = 50
      let tool = try await SQLRecordStore.open(
        at: old, configuration: StoreSample.configuration())
      let refused = await storeError {
        _ = try await SQLRecordStore.open(at: old, configuration: configuration)
      }
      #expect(refused == .overloaded)
      #expect(!Self.isProtected(old))
      #expect(try await tool.users().count == 30)
      await tool.close()
      let store = try await SQLRecordStore.open(at: old, configuration: configuration)
      await store.close()
      #expect(Self.isProtected(old))
    }
  }
}
