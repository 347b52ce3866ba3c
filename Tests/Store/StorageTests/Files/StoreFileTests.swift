import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import Storage

struct StoreFileTests {
  private func fresh(_ role: StoreConfiguration.Role = .server) -> StoreConfiguration {
    var configuration = StoreConfiguration(role: role)
    configuration.tuning.cacheKilobytes = 4096
    return configuration
  }

  @Test("what was acknowledged is in a copy of the files taken while the store is open")
  func copyWhileOpen() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let store = try await Store.open(at: path, configuration: fresh())
      let test = try await TestStore(store)
      _ = try await test.subscribe(noteSubscription("s"))
      let saved = try await test.save("n", ["x": .int64(1)])
      let outbox = try await test.outbox()
      // A process that is killed leaves just these files behind.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: path + suffix, toPath: directory + "/b.sqlite" + suffix)
      }
      await store.close()
      let copy = try await Store.open(
        at: directory + "/b.sqlite", configuration: fresh())
      let reopened = try await TestStore(copy)
      #expect(reopened.publicID == test.publicID)
      #expect(try await reopened.record("n") == saved)
      #expect(try await reopened.outbox() == outbox)
      #expect(try await reopened.storedSubscriptions().count == 1)
      #expect(try await copy.outbox.undispatchedDatabases() == [test.publicID])
      #expect(try await reopened.dispatch().logged.count == 1)
      // Numbers go on where they stood.
      let later = try await reopened.save("m")
      #expect(later.recordChangeTag != saved.recordChangeTag)
      await copy.close()
    }
  }

  @Test("a second server is refused, a tool is let in and writes beside it")
  func roles() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let server = try await Store.open(at: path, configuration: fresh())
      let refused = await storeError {
        _ = try await Store.open(at: path, configuration: fresh())
      }
      #expect(refused == .cannotOpen)
      let tool = try await Store.open(at: path, configuration: fresh(.tool))
      let user = try await tool.accounts.addUser(named: "zoe", at: .now)
      #expect(try await server.accounts.user(named: "zoe") == user)
      let test = try await TestStore(server)
      try await test.watch()
      try await test.save("n", ["x": .int64(1)])
      let beside = try await TestStore(tool)
      try await beside.save("m", ["x": .int64(2), "y": .string("new field")])
      try await test.save("n", ["y": .string("known by now")])
      #expect(try await test.outbox().count == 3)
      await tool.close()
      await server.close()
      let next = try await Store.open(at: path, configuration: fresh())
      await next.close()
    }
  }

  @Test("a file that is no store is refused with its path")
  func noStore() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/text"
      try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
      do {
        _ = try await Store.open(at: path, configuration: fresh())
        Issue.record("a text file was taken for a store")
      } catch let error as StoreError {
        #expect(error.code == .cannotOpen)
        #expect(error.reason.contains(path))
      }
      let nowhere = await storeError {
        _ = try await Store.open(at: directory + "/no/such/file", configuration: fresh())
      }
      #expect(nowhere == .cannotOpen)
    }
  }

  @Test("migrations run in order, once each, and a newer store is refused")
  func migrations() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let newest = try #require(Schema.migrations.last).version
      let second = Migration(
        version: newest + 1,
        statements: [
          "CREATE TABLE extra (name TEXT PRIMARY KEY)", "INSERT INTO extra VALUES ('two')",
        ])
      let third = Migration(version: newest + 2, statements: ["INSERT INTO extra VALUES ('three')"])
      func open(_ migrations: [Migration]) async throws -> Store {
        try await Store.open(
          path: path, configuration: fresh(), migrations: migrations)
      }
      func extras(_ store: Store) async throws -> [String] {
        try await store.transactions.read {
          try $0.connection.rows("SELECT name FROM extra ORDER BY name", []) { $0.text(0) }
        }
      }
      let first = try await open(Schema.migrations)
      let saved = try await TestStore(first).save("n")
      await first.close()
      for _ in 0..<2 {
        let migrated = try await open(Schema.migrations + [second, third])
        #expect(try await extras(migrated) == ["three", "two"])
        #expect(try await TestStore(migrated).record("n") == saved)
        await migrated.close()
      }
      #expect(await storeError { _ = try await open(Schema.migrations) } == .newerSchema)
      // One that fails leaves the store as it was.
      let broken = Migration(
        version: newest + 3, statements: ["INSERT INTO extra VALUES ('four')", "NONSENSE"])
      let all = Schema.migrations + [second, third]
      #expect(await storeError { _ = try await open(all + [broken]) } == .statementFailed)
      let intact = try await open(all)
      #expect(try await extras(intact) == ["three", "two"])
      await intact.close()
    }
  }

  @Test("a store from before the first release is refused, and left as it is")
  func olderStore() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      func open(_ migrations: [Migration]) async throws -> Store {
        try await Store.open(path: path, configuration: fresh(), migrations: migrations)
      }
      let oldest = Schema.oldestVersion
      let first = try #require(Schema.migrations.first)
      let old = [
        Migration(version: oldest - 1, statements: first.statements, fill: first.fill)
      ]
      let store = try await open(old)
      let saved = try await TestStore(store).save("n")
      await store.close()
      let error = await #expect(throws: StoreError.self) { _ = try await open(Schema.migrations) }
      #expect(error?.code == .olderSchema)
      #expect(
        error?.reason.contains("schema version \(oldest - 1)") == true, "\(error?.reason ?? "")")
      let kept = try await open(old)
      #expect(try await TestStore(kept).record("n") == saved)
      await kept.close()
    }
  }

  @Test("closing copies the log into the database")
  func logAfterClose() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      for round in 0..<10 {
        let store = try await Store.open(at: path, configuration: fresh())
        try await TestStore(store).save("n\(round)")
        await store.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
      }
    }
  }

  @Test("a closed store says so, and finishes what waits before it closes")
  func closing() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let store = try await Store.open(at: path, configuration: fresh())
      let test = try await TestStore(store)
      try await test.watch()
      let outcomes = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          group.addTask { (try? await test.save("n\(number)")) != nil }
        }
        group.addTask {
          await store.close()
          return false
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(await storeError { try await test.save("late") } == .closed)
      #expect(await storeError { _ = try await store.accounts.users() } == .closed)
      await store.close()
      let again = try await Store.open(at: path, configuration: fresh())
      #expect(try await TestStore(again).outbox().count == outcomes)
      await again.close()
    }
  }
}
