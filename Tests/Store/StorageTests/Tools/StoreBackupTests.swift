import CloudKitModel
import Foundation
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import Storage
@testable import StoreTools

/// Records that are saved until it is enough.
private final class Load: Sendable {
  private struct State {
    var acknowledged: Set<String> = []
    var isOver = false
  }

  private let test: TestStore
  private let state = Mutex(State())

  init(_ test: TestStore) {
    self.test = test
  }

  var acknowledged: Set<String> { state.withLock { $0.acknowledged } }

  func end() { state.withLock { $0.isOver = true } }

  func save(as worker: Int) async throws {
    var number = 0
    while !state.withLock({ $0.isOver }) {
      let name = "n\(worker)-\(number)"
      var fields: RecordFields<RecordValue?> = ["x": .int64(Int64(number))]
      if number % 5 == 0 {
        fields["file"] = .asset(
          try await test.upload("bytes of \(name)", receipt: name, record: name))
      }
      try await test.save(name, fields)
      state.withLock { _ = $0.acknowledged.insert(name) }
      number += 1
    }
  }
}

struct StoreBackupTests {
  private static func configuration() -> StoreConfiguration {
    var configuration = StoreConfiguration(role: .server)
    configuration.tuning.cacheKilobytes = 4096
    return configuration
  }

  private static func open(_ path: String) async throws -> (Store, TestStore) {
    let store = try await Store.open(at: path, configuration: configuration())
    return (store, try await TestStore(store))
  }

  @Test("made while others save, it has what was acknowledged before, with all of its assets")
  func underLoad() async throws {
    try await withTemporaryDirectory { directory in
      let (store, test) = try await Self.open(directory + "/petrel.sqlite")
      let load = Load(test)
      let before = try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<3 { group.addTask { try await load.save(as: worker) } }
        defer { load.end() }
        try await eventually("much is saved") { load.acknowledged.count >= 300 }
        let before = load.acknowledged
        try await StoreBackup.make(
          ofStoreAt: directory + "/petrel.sqlite", in: directory + "/copy")
        #expect(load.acknowledged.count > before.count, "nothing was saved meanwhile")
        load.end()
        try await group.waitForAll()
        return before
      }
      await store.close()
      let (copy, reopened) = try await Self.open(directory + "/copy/petrel.sqlite")
      for name in before {
        let record = try await reopened.record(name)
        #expect(record != nil, "\(name)")
      }
      // Those of records that were saved while it was made, too.
      var assets = 0
      for name in load.acknowledged {
        guard case .asset(let asset)? = try await reopened.record(name)?.fields["file"] else {
          continue
        }
        #expect(try await reopened.bytes(of: asset) == Data("bytes of \(name)".utf8))
        assets += 1
      }
      #expect(assets >= 60)
      await copy.close()
    }
  }

  @Test("restored, it has everything, and those who knew more than the copy start anew")
  func restores() async throws {
    try await withTemporaryDirectory { directory in
      let (store, test) = try await Self.open(directory + "/petrel.sqlite")
      let zones = [try await test.makeZone("One"), try await test.makeZone("Two")]
      try await test.savePrivately("kept", in: zones[0])
      let asset = try await test.upload("hello", receipt: "r")
      let saved = try await test.save("n", ["file": .asset(asset)])
      try await StoreBackup.make(ofStoreAt: directory + "/petrel.sqlite", in: directory + "/copy")
      try await test.savePrivately("lost", in: zones[0])
      let lost = try await test.changes(in: zones[0])
      let lostZones = try await test.zoneChanges()
      #expect(Set(lost.names) == ["kept", "lost"])
      await store.close()

      try await StoreBackup.restore(
        from: directory + "/copy", toStoreAt: directory + "/new/petrel.sqlite")
      let (copy, restored) = try await Self.open(directory + "/new/petrel.sqlite")
      #expect(try await restored.record("n") == saved)
      if case .asset(let asset)? = saved.fields["file"] {
        #expect(try await restored.bytes(of: asset) == Data("hello".utf8))
      }
      for number in 0..<20 { try await restored.savePrivately("new\(number)", in: zones[0]) }
      let expired = await storeError {
        _ = try await restored.changes(in: zones[0], since: lost.token)
      }
      #expect(expired == .changeTokenExpired)
      let expiredZones = await storeError {
        _ = try await restored.zoneChanges(since: lostZones.token)
      }
      #expect(expiredZones == .changeTokenExpired)
      let all = try await restored.changes(in: zones[0])
      #expect(Set(all.names) == Set(["kept"] + (0..<20).map { "new\($0)" }))
      // One at a time, so that zones of the same version would be passed over.
      var names: [String] = []
      var page = try await restored.zoneChanges(limit: 1)
      names += page.changes.map { "\($0)" }
      while page.hasMore {
        page = try await restored.zoneChanges(since: page.token, limit: 1)
        names += page.changes.map { "\($0)" }
      }
      #expect(names.count == 2, "\(names)")
      #expect(try await restored.changes(in: zones[0], since: all.token).names.isEmpty)
      await copy.close()
    }
  }

  /// Returns the files in a folder that other users may access.
  private static func openFiles(in directory: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: directory).filter { name in
      var information = stat()
      return lstat(directory + "/" + name, &information) == 0 && information.st_mode & 0o077 != 0
    }
  }

  @Test("a copy and what is restored are for their user alone, also of files that are not")
  func permissions() async throws {
    try await withTemporaryDirectory { directory in
      #expect(mkdir(directory + "/data", 0o700) == 0)
      let (store, test) = try await Self.open(directory + "/data/petrel.sqlite")
      try await test.save(
        "a", ["file": .asset(try await test.upload("bytes", receipt: "a", record: "a"))])
      for target in ["copy", "again"] {
        try await StoreBackup.make(
          ofStoreAt: directory + "/data/petrel.sqlite", in: directory + "/" + target)
        #expect(try Self.openFiles(in: directory) == [])
      }
      await store.close()
      // As from an archive that keeps no permissions.
      for name in try FileManager.default.subpathsOfDirectory(atPath: directory + "/copy") {
        chmod(directory + "/copy/" + name, 0o755)
      }
      chmod(directory + "/copy", 0o755)
      try await StoreBackup.restore(
        from: directory + "/copy", toStoreAt: directory + "/restored/petrel.sqlite")
      let (restored, _) = try await Self.open(directory + "/restored/petrel.sqlite")
      #expect(try Self.openFiles(in: directory + "/restored") == [])
      await restored.close()
    }
  }

  @Test("nothing is overwritten, and a backup that cannot be leaves nothing behind")
  func refusals() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/petrel.sqlite"
      let (store, test) = try await Self.open(path)
      let asset = try await test.upload("hello", receipt: "r")
      try await test.save("n", ["file": .asset(asset)])
      try await StoreBackup.make(ofStoreAt: path, in: directory + "/copy")
      let again = await storeError {
        try await StoreBackup.make(ofStoreAt: path, in: directory + "/copy")
      }
      #expect(again == .exists)
      let served = await storeError {
        try await StoreBackup.restore(from: directory + "/copy", toStoreAt: path)
      }
      #expect(served == .cannotOpen)
      let none = await storeError {
        try await StoreBackup.make(ofStoreAt: directory + "/nothing", in: directory + "/b")
      }
      #expect(none == .cannotOpen)
      await store.close()
      let there = await storeError {
        try await StoreBackup.restore(from: directory + "/copy", toStoreAt: path)
      }
      #expect(there == .exists)
      let noBackup = await storeError {
        try await StoreBackup.restore(
          from: directory + "/nothing", toStoreAt: directory + "/c/petrel.sqlite")
      }
      #expect(noBackup == .cannotOpen)

      try FileManager.default.removeItem(atPath: directory + "/copy/petrel.sqlite-assets")
      let missing = await storeError {
        try await StoreBackup.restore(
          from: directory + "/copy", toStoreAt: directory + "/d/petrel.sqlite")
      }
      #expect(missing == .assetFailed)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: directory + "/d")
          == ["petrel.sqlite.lock"])
    }
  }

  @Test("a copy by a newer Petrel is refused, and one from before the first release")
  func forms() async throws {
    try await withTemporaryDirectory { directory in
      let newer = Schema.migrations + [Migration(version: 1_000, statements: [])]
      for (name, migrations) in [("newer", newer), ("old", Schema.migrations)] {
        let store = try await Store.open(
          path: directory + "/\(name)/petrel.sqlite", making: directory + "/\(name)",
          configuration: Self.configuration(), migrations: migrations)
        if name == "old" {
          _ = try await store.transactions.write {
            try $0.connection.run("UPDATE schema_version SET version = 31", [])
          }
        }
        await store.close()
      }
      for (name, code) in [("newer", StoreError.Code.newerSchema), ("old", .olderSchema)] {
        let refused = await storeError {
          try await StoreBackup.make(
            ofStoreAt: directory + "/\(name)/petrel.sqlite", in: directory + "/copy")
        }
        #expect(refused == code)
        #expect(!FileManager.default.fileExists(atPath: directory + "/copy"))
        let notRestored = await storeError {
          try await StoreBackup.restore(
            from: directory + "/\(name)", toStoreAt: directory + "/a/petrel.sqlite")
        }
        #expect(notRestored == code)
      }
    }
  }
}

extension Store {
  fileprivate static func open(
    path: String, making folder: String, configuration: StoreConfiguration,
    migrations: [Migration]
  ) async throws -> Store {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return try await open(path: path, configuration: configuration, migrations: migrations)
  }
}

extension TestStore {
  func savePrivately(_ name: String, in zone: ZoneID) async throws {
    try await save(name, ["x": .int64(1)], zone: zone, in: privateID)
  }
}
