import CloudKitModel
import Foundation
import Testing

@testable import SQLEngine
@testable import Storage

struct CheckpointerTests {
  private static let limit = 200

  private func configuration(readers: Int = 2) -> StoreConfiguration {
    var configuration = StoreConfiguration()
    configuration.tuning.cacheKilobytes = 4096
    configuration.tuning.checkpointPages = 50
    configuration.tuning.logPages = Self.limit
    configuration.readers = readers
    return configuration
  }

  @Test("the file of a log that was long is cut when the log begins anew")
  func cut() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let connection = try SQLiteConnection(
        path: path, settings: SQLiteConnection.Settings(keptLogBytes: 100_000))
      defer { connection.close() }
      try connection.execute("CREATE TABLE things (content BLOB)")
      for _ in 0..<2 {
        try connection.run("INSERT INTO things VALUES (zeroblob($1))", [.integer(1_000_000)])
      }
      #expect(try Self.size(of: path + "-wal") > 2_000_000)
      _ = try connection.copyLog(isAlone: true)
      try connection.run("INSERT INTO things VALUES ($1)", [.integer(1)])
      #expect(try Self.size(of: path + "-wal") <= 100_000)
      #expect(try connection.first("SELECT COUNT(*) FROM things", []) { $0.integer(0) } == 3)
    }
  }

  @Test("the log stays short while many save and read, and all of it is in a copy of the files")
  func short() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let store = try await Store.open(at: path, configuration: configuration())
      let test = try await TestStore(store)
      let (saversCount, savesEach) = (8, 60)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for saver in 0..<saversCount {
          group.addTask {
            for number in 0..<savesEach {
              try await test.save(
                "\(saver)-\(number)", ["text": .string(String(repeating: "x", count: 3_000))])
              let read = try await test.record("\(saver)-\(number / 2)")
              #expect(read != nil)
            }
          }
        }
        try await group.waitForAll()
      }
      let pages = try Self.size(of: path + "-wal") / 4_120
      // A commit that is under way at the limit goes on; and readers may be in the way for a time.
      #expect(pages > 50 && pages < 4 * Self.limit, "the log has \(pages) pages")
      #expect(try Self.size(of: path) > saversCount * savesEach * 3_000 / 2)
      // A process that is killed leaves just these files behind.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: path + suffix, toPath: directory + "/b.sqlite" + suffix)
      }
      await store.close()
      let copy = try await Store.open(
        at: directory + "/b.sqlite", configuration: configuration())
      let reopened = try await TestStore(copy)
      for saver in 0..<saversCount {
        for number in 0..<savesEach {
          #expect(try await reopened.record("\(saver)-\(number)") != nil)
        }
      }
      let damages = try await copy.transactions.read {
        try $0.connection.rows("PRAGMA integrity_check", []) { $0.text(0) }
      }
      #expect(damages == ["ok"])
      await copy.close()
    }
  }

  @Test("somebody who reads for long holds up the end of the log, not those who save")
  func longReading() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let store = try await Store.open(at: path, configuration: configuration())
      let test = try await TestStore(store)
      try await test.save("first")
      let gate = DispatchSemaphore(value: 0)
      let reading = Task {
        try await store.transactions.read { transaction in
          let before = try transaction.connection.rows("SELECT count(*) FROM records", []) {
            $0.integer(0)
          }
          gate.wait()
          let after = try transaction.connection.rows("SELECT count(*) FROM records", []) {
            $0.integer(0)
          }
          return before == after
        }
      }
      let text = String(repeating: "x", count: 3_000)
      var number = 0
      while try Self.size(of: path + "-wal") < 3 * Self.limit * 4_120 {
        try await test.save("long-\(number)", ["text": .string(text)])
        number += 1
      }
      gate.signal()
      #expect(try await reading.value, "the reader must see one state")
      // The log begins anew, and grows no more.
      let size = try Self.size(of: path + "-wal")
      for number in 0..<600 {
        try await test.save("later-\(number)", ["text": .string(text)])
      }
      #expect(try Self.size(of: path + "-wal") < size + Self.limit * 4_120)
      await store.close()
    }
  }

  @Test("a store is closed while the log is copied")
  func closing() async throws {
    for round in 0..<20 {
      try await withTemporaryDirectory { directory in
        let path = directory + "/a.sqlite"
        let store = try await Store.open(at: path, configuration: configuration())
        let test = try await TestStore(store)
        let saving = Task {
          var saved = 0
          let text = String(repeating: "x", count: 9_000)
          while (try? await test.save("\(saved)", ["text": .string(text)])) != nil { saved += 1 }
          return saved
        }
        try await test.save("x", ["text": .string(String(repeating: "y", count: 40_000 + round))])
        for number in 0..<round * 2 { try await test.save("y\(number)") }
        await store.close()
        let saved = await saving.value
        let next = try await Store.open(at: path, configuration: configuration())
        let reopened = try await TestStore(next)
        for number in 0..<saved { #expect(try await reopened.record("\(number)") != nil) }
        await next.close()
      }
    }
  }

  private static func size(of path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.size] as? Int)
  }
}
