import CloudKitModel
import Foundation
import PostgreSQLHosting
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

/// A cluster of a test's own, with checksums on its pages.
private struct Cluster: Sendable {
  let server: HostedPostgreSQL

  init() throws {
    server = try HostedPostgreSQL(
      in: NSTemporaryDirectory() + "petrel-pg-\(UUID().uuidString.prefix(8))",
      settings: ["fsync = off", "max_connections = 60"], hasChecksums: true)
  }

  var address: PostgreSQLAddress {
    get throws { try PostgreSQLAddress(server.address()) }
  }

  func open(_ role: StoreConfiguration.Role = .server) async throws -> (Store, TestStore) {
    let store = try await Store.open(
      at: .postgreSQL(address, assets: nil), configuration: StoreConfiguration(role: role))
    return (store, try await TestStore(store))
  }

  /// Runs one of PostgreSQL's programs, and answers what it printed.
  @discardableResult
  func run(_ name: String, _ arguments: [String]) throws -> String {
    let path = try #require(HostedPostgreSQL.program(name))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(name): \(text)")
    return text
  }

  func query(_ statement: String) throws -> String {
    try run("psql", ["-d", server.address(), "-Atc", statement])
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// Records that are saved into a zone until it is enough.
private final class ZoneLoad: Sendable {
  private let test: TestStore
  private let zone: ZoneID
  private let names = Mutex<[String]>([])
  private let isOver = Mutex(false)

  init(_ test: TestStore, _ zone: ZoneID) {
    self.test = test
    self.zone = zone
  }

  var acknowledged: [String] { names.withLock { $0 } }

  func end() { isOver.withLock { $0 = true } }

  func save(as worker: Int) async throws {
    var number = 0
    while !isOver.withLock({ $0 }) {
      let name = "n\(worker)-\(number)"
      try await test.savePrivately(name, in: zone)
      names.withLock { $0.append(name) }
      number += 1
    }
  }
}

struct PostgreSQLFilesTests {
  private static func withCluster(_ body: (Cluster) async throws -> Void) async throws {
    let cluster = try Cluster()
    defer { cluster.server.end() }
    try await body(cluster)
  }

  @Test("of a damaged page nothing is served, it is told, and all else goes on")
  func damagedPages() async throws {
    try await Self.withCluster { cluster in
      var (store, test) = try await cluster.open()
      var saved: [String: Record] = [:]
      var random = SystemRandomNumberGenerator()
      for start in stride(from: 0, to: 400, by: 50) {
        let operations = (start..<start + 50).map { number in
          // What does not get smaller by being compressed.
          let bytes = Data((0..<900).map { _ in UInt8.random(in: 0...255, using: &random) })
          return RecordOperation(
            kind: .create, recordID: RecordID(recordName: "n\(number)"), recordType: "Note",
            fields: ["bytes": .bytes(bytes)])
        }
        for case .saved(let record) in try await test.modify(operations) {
          saved[record.recordID.recordName] = record
        }
      }
      #expect(saved.count == 400)
      await store.close()
      // As PostgreSQL does by itself after a minute: it finds records by their index then.
      _ = try cluster.query("ANALYZE")
      _ = try cluster.query("CHECKPOINT")
      let file = try cluster.query(
        "SELECT current_setting('data_directory') || '/' || pg_relation_filepath('records')")
      try cluster.server.stop()
      let pages = try StoreSample.size(file) / 8_192
      #expect(pages > 40)
      for page in [5, 21] {
        // Of a page's end, where its rows are.
        for byte in [8_100, 6_000, 3_000] {
          try StoreSample.flip((page * 8_192 + byte) * 8, of: file)
        }
      }
      try cluster.server.startAgain()
      (store, test) = try await cluster.open()
      let told = Mutex<[String]>([])
      store.setDamageHandler { reason in told.withLock { $0.append(reason) } }
      #expect(store.metrics.foundDamage == nil)
      var failures = 0
      for (name, record) in saved {
        do {
          let found = try await test.record(name)
          #expect(found == record, "\(name)")
        } catch let error as StoreError {
          #expect(error.code == .corrupt && error.reason.contains("invalid page"), "\(error)")
          failures += 1
        }
      }
      #expect(failures > 4 && failures < 30, "\(failures) of 400")
      #expect(store.metrics.foundDamage?.contains("invalid page") == true)
      #expect(told.withLock(\.count) == 1)
      // A whole page of others, and of writing.
      #expect(store.damage == nil)
      try await store.checkWriting()
      try await test.save("new")
      #expect(try await test.record("new") != nil)
      let address = try cluster.address
      try await eventually("PostgreSQL has counted them") {
        try await PostgreSQLExamination.look(at: address).damagedPages > 0
      }
      await store.close()
    }
  }

  @Test("a dump made under load is a store of one moment, and its clients begin anew")
  func dump() async throws {
    try await Self.withCluster { cluster in
      try await Self.withCluster { other in
        let file = cluster.server.directory + "-dump"
        defer { unlink(file) }
        let (store, test) = try await cluster.open()
        let zone = try await test.makeZone("Zone")
        let load = ZoneLoad(test, zone)
        let before = try await withThrowingTaskGroup(of: Void.self) { group in
          for worker in 0..<3 { group.addTask { try await load.save(as: worker) } }
          defer { load.end() }
          try await eventually("much is saved") { load.acknowledged.count >= 300 }
          let before = load.acknowledged
          let address = cluster.server.address()
          try await Store.onThread {
            _ = try cluster.run("pg_dump", ["-Fc", "-f", file, "-d", address])
          }
          #expect(load.acknowledged.count > before.count, "nothing was saved meanwhile")
          load.end()
          try await group.waitForAll()
          return before
        }
        // What devices know of the store that is lost.
        let lost = try await test.allChanges(in: zone)
        let lostZones = try await test.zoneChanges()
        #expect(Set(lost.names) == Set(load.acknowledged))
        await store.close()

        try other.run("pg_restore", ["-d", other.server.address(), file])
        for role in [StoreConfiguration.Role.server, .tool] {
          #expect(await storeError { _ = try await other.open(role) } == .cannotOpen)
        }
        let databases = try await StoreBackup.completeRestoration(at: other.address)
        #expect(databases == 2)
        let (copy, restored) = try await other.open()
        let all = try await restored.allChanges(in: zone)
        #expect(Set(all.names).isSuperset(of: before))
        #expect(Set(lost.names).isSuperset(of: all.names))
        // Of each worker the first so many.
        for worker in 0..<3 {
          let numbers = all.names.filter { $0.hasPrefix("n\(worker)-") }
          #expect(Set(numbers) == Set((0..<numbers.count).map { "n\(worker)-\($0)" }))
        }
        #expect(
          await storeError { _ = try await restored.changes(in: zone, since: lost.token) }
            == .changeTokenExpired)
        #expect(
          await storeError { _ = try await restored.zoneChanges(since: lostZones.token) }
            == .changeTokenExpired)
        // No tag that a device knows is given to anything else.
        let known = Set(lost.tags)
        for number in 0..<20 { try await restored.savePrivately("new\(number)", in: zone) }
        let news = try await restored.changes(in: zone, since: all.token)
        #expect(news.names.count == 20)
        #expect(known.isDisjoint(with: news.tags))
        await copy.close()
      }
    }
  }

  @Test("a copy that has all is served once that is said, and devices go on where they were")
  func move() async throws {
    try await Self.withCluster { cluster in
      try await Self.withCluster { other in
        let file = cluster.server.directory + "-dump"
        defer { unlink(file) }
        let (store, test) = try await cluster.open()
        let zone = try await test.makeZone("Zone")
        try await test.savePrivately("a", in: zone)
        let before = try await test.changes(in: zone, limit: 10)
        await store.close()
        // Neither is a place that it came to.
        let (again, _) = try await cluster.open()
        await again.close()
        try cluster.run("pg_dump", ["-Fc", "-f", file, "-d", cluster.server.address()])
        // In the same cluster, too, where other tables take the place of those that were served.
        for (place, words) in [(other, []), (cluster, ["--clean", "--if-exists"])] {
          try place.run("pg_restore", words + ["-d", place.server.address(), file])
          let address = try place.address
          let reason = try await PostgreSQLExamination.look(at: address).restoration
          #expect(
            reason?.contains("petrel store restored --nothing-lost") == true, "\(reason ?? "")")
          #expect(
            await storeError {
              _ = try await StoreMove.run(
                from: .postgreSQL(address, assets: nil), to: .file(path: file + ".sqlite")
              ) { _ in }
            } == .cannotOpen)
          #expect(await storeError { _ = try await place.open() } == .cannotOpen)
          try await StoreBackup.completeRestoration(at: address, nothingLost: true)
          #expect(try await PostgreSQLExamination.look(at: address).restoration == nil)
          let (copy, restored) = try await place.open()
          try await restored.savePrivately("b", in: zone)
          let news = try await restored.changes(in: zone, since: before.token)
          #expect(news.names == ["b"])
          await copy.close()
        }
      }
    }
  }

  @Test("a store whose user may not say where it is is served without that")
  func withoutPlace() async throws {
    try await Self.withCluster { cluster in
      let (store, _) = try await cluster.open()
      await store.close()
      #expect(
        try cluster.query("SELECT obj_description('schema_version'::regclass)").contains("table"))
      _ = try cluster.query("COMMENT ON TABLE schema_version IS 'ours'")
      _ = try cluster.query(
        """
        CREATE ROLE guest LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO guest;
        GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO guest;
        REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC
        """)
      let guest = try PostgreSQLAddress(
        cluster.server.address().replacing("petrel@", with: "guest@"))
      let served = try await Store.open(
        at: .postgreSQL(guest, assets: nil), configuration: StoreConfiguration(role: .server))
      try await served.checkWriting()
      await served.close()
      #expect(try cluster.query("SELECT obj_description('schema_version'::regclass)") == "ours")

      _ = try cluster.query(
        "COMMENT ON TABLE schema_version IS '\(ServedLocation(cluster: nil, database: 1, table: 1).comment)'"
      )
      #expect(
        await storeError {
          _ = try await Store.open(at: .postgreSQL(guest, assets: nil))
        } == .cannotOpen)
      let denial = await #expect(throws: StoreError.self) {
        try await StoreBackup.completeRestoration(at: guest, nothingLost: true)
      }
      #expect(denial?.reason.contains("must be owner of table schema_version") == true)
    }
  }

  @Test("a store that a server has open is not made to begin anew")
  func served() async throws {
    try await Self.withCluster { cluster in
      let address = try cluster.address
      #expect(
        await storeError { try await StoreBackup.completeRestoration(at: address) } == .cannotOpen)
      let (store, _) = try await cluster.open()
      #expect(
        await storeError { try await StoreBackup.completeRestoration(at: address) } == .cannotOpen)
      await store.close()
      try await eventually("PostgreSQL has noticed") {
        try await !Store.isServed(at: .postgreSQL(address, assets: nil))
      }
      try await StoreBackup.completeRestoration(at: address)
    }
  }
}

extension RecordChangesPage {
  fileprivate var tags: [String] {
    changes.compactMap {
      if case .saved(let record) = $0 { record.recordChangeTag } else { nil }
    }
  }
}
