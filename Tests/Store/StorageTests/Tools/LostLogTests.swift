import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

/// Stores whose write-ahead log, or whose whole file, someone removed.
struct LostLogTests {
  /// Makes what a killed server leaves: a file and a log that has a save the file does not have.
  private static func leave(_ path: String) async throws {
    let open = path + "-open"
    let store = try await Store.open(at: open, configuration: configuration(.server))
    try await TestStore(store).save("n")
    try StoreSample.copy(open, to: path, suffixes: ["", "-wal"])
    await store.close()
  }

  private static func configuration(_ role: StoreConfiguration.Role) -> StoreConfiguration {
    var configuration = StoreConfiguration(role: role)
    configuration.tuning.cacheKilobytes = 4096
    return configuration
  }

  /// Opens the store and returns whether it has the save.
  private static func hasSave(
    _ path: String, as role: StoreConfiguration.Role = .server
  ) async throws -> Bool {
    let store = try await Store.open(at: path, configuration: configuration(role))
    let test = try await TestStore(store)
    let found = try await store.records.records([RecordID(recordName: "n")], in: test.publicID)
    await store.close()
    return found[0] != nil
  }

  private static func refusal(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch let error as StoreError where error.code == .cannotOpen {
      return error.reason
    } catch {
      return "another error: \(error)"
    }
  }

  private static func isThere(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  @Test("a store whose log was removed is refused, and opens as soon as the log is back")
  func removed() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      try await Self.leave(path)
      try FileManager.default.moveItem(atPath: path + "-wal", toPath: path + "-away")
      for role in [StoreConfiguration.Role.server, .tool] {
        let refusal = await Self.refusal { _ = try await Self.hasSave(path, as: role) }
        let reason = try #require(refusal)
        #expect(reason.contains("'\(path)-wal' is missing"), "\(reason)")
        #expect(reason.contains("petrel store restored --data"), "\(reason)")
      }
      let backup = await Self.refusal {
        try await StoreBackup.make(ofStoreAt: path, in: directory + "/backup")
      }
      #expect(backup?.contains("is missing") == true)
      let move = await Self.refusal {
        _ = try await StoreMove.run(
          from: .file(path: path), to: .file(path: directory + "/moved.sqlite"))
      }
      #expect(move?.contains("is missing") == true)
      let found = try await StoreExamination.look(
        atStoreAt: path, depth: .quick, within: .seconds(10))
      #expect(found.faults.count == 1 && found.faults[0].contains("-wal' is missing"))
      #expect(!Self.isThere(path + "-wal"), "nothing made another log")

      try FileManager.default.moveItem(atPath: path + "-away", toPath: path + "-wal")
      #expect(try await Self.hasSave(path))
      #expect(!Self.isThere(path + "-wal"))
      #expect(try await Self.hasSave(path))
    }
  }

  @Test("the file of a store that was closed needs no log, also alone")
  func closed() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      try await Self.leave(path)
      #expect(try await Self.hasSave(path))
      try StoreSample.copy(path, to: directory + "/b.sqlite", suffixes: [""])
      #expect(try await Self.hasSave(directory + "/b.sqlite"))
    }
  }

  @Test("no other connection deletes the log that a killed server left")
  func kept() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      try await Self.leave(path)
      let connection = try SQLiteConnection(path: path)
      _ = try connection.first("SELECT COUNT(*) FROM records", []) { $0.integer(0) }
      connection.close()
      #expect(Self.isThere(path + "-wal"))
      // A server holds its lock, but has opened no connection yet.
      do {
        let lock = try ServerLock(forStoreAt: path)
        #expect(try await Self.hasSave(path, as: .tool))
        #expect(Self.isThere(path + "-wal"))
        withExtendedLifetime(lock) {}
      }
      #expect(try await Self.hasSave(path))
    }
  }

  @Test("a command on the store of a killed server copies the log, and the file may go alone then")
  func command() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      try await Self.leave(path)
      #expect(try await Self.hasSave(path, as: .tool))
      #expect(!Self.isThere(path + "-wal"))
      #expect(try await Self.hasSave(path))
    }
  }

  @Test("a backup of a running server opens without a log, restored or where it is")
  func backup() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let store = try await Store.open(at: path, configuration: Self.configuration(.server))
      try await TestStore(store).save("n")
      try await StoreBackup.make(ofStoreAt: path, in: directory + "/backup")
      await store.close()
      let files = try FileManager.default.contentsOfDirectory(atPath: directory + "/backup")
      #expect(files == ["petrel.sqlite"])
      try await StoreBackup.restore(from: directory + "/backup", toStoreAt: directory + "/b.sqlite")
      #expect(!Self.isThere(directory + "/b.sqlite-wal"))
      #expect(try await Self.hasSave(directory + "/b.sqlite"))
      #expect(try await Self.hasSave(directory + "/backup/petrel.sqlite"))
    }
  }

  @Test(
    "a store may go on without its log, with tokens that expire unless nothing was lost",
    arguments: [true, false])
  func goingOn(nothingLost: Bool) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let first = try await Store.open(at: path, configuration: Self.configuration(.server))
      let test = try await TestStore(first)
      try await test.save("old")
      let query = RecordChangesQuery(
        zoneID: .default, token: nil, limit: 200, sizeLimit: .max,
        caller: .administrator(userRecordName: "_operator"))
      let token = try await first.changeFeeds.recordChanges(matching: query, in: test.publicID)
        .token
      await first.close()
      let store = try await Store.open(at: path, configuration: Self.configuration(.server))
      try await TestStore(store).save("n")
      try StoreSample.copy(path, to: directory + "/b.sqlite", suffixes: [""])
      await store.close()

      let lost = directory + "/b.sqlite"
      let refusal = await Self.refusal { _ = try await Self.hasSave(lost) }
      #expect(refusal != nil)
      let databases = try await StoreBackup.completeRestoration(
        ofStoreAt: lost, nothingLost: nothingLost)
      #expect(databases == 2)
      #expect(try await !Self.hasSave(lost))
      let again = try await Store.open(at: lost, configuration: Self.configuration(.server))
      var next = query
      next.token = token
      if nothingLost {
        _ = try await again.changeFeeds.recordChanges(matching: next, in: test.publicID)
      } else {
        let code = await storeError {
          _ = try await again.changeFeeds.recordChanges(matching: next, in: test.publicID)
        }
        #expect(code == .changeTokenExpired)
      }
      await again.close()
    }
  }

  @Test("a store that is missing or empty beside the files of its assets is refused")
  func besideAssets() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let store = try await Store.open(at: path, configuration: Self.configuration(.server))
      let test = try await TestStore(store)
      _ = try await test.upload("bytes", receipt: "r", record: "n")
      await store.close()
      try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
      for contents in [nil, Data()] {
        if let contents { try contents.write(to: URL(fileURLWithPath: path)) }
        for role in [StoreConfiguration.Role.server, .tool] {
          let refusal = await Self.refusal { _ = try await Self.hasSave(path, as: role) }
          let reason = try #require(refusal)
          #expect(
            reason.contains(contents == nil ? "is missing" : "is empty")
              && reason.contains("'\(path)-assets'"), "\(reason)")
        }
        #expect(Self.isThere(path) == (contents != nil))
      }
      try FileManager.default.moveItem(atPath: path + "-assets", toPath: path + "-assets-away")
      #expect(try await !Self.hasSave(path))
    }
  }
}
