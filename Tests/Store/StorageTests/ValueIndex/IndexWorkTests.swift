import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

struct IndexWorkTests {
  private static let container = TestStore.container

  static func schema(
    _ indexes: FieldIndexes, system: [SystemField: FieldIndexes] = SystemField.implicitIndexes
  ) -> ContainerSchema {
    ContainerSchema(
      recordTypes: [
        "Note": .init(
          fields: [
            "title": .init(.init(.string), indexes: indexes),
            "other": .init(.init(.int64), indexes: [.queryable]),
          ], systemIndexes: system)
      ])
  }

  /// Every entry in the value index, and every one that there should be.
  static func entries(
    of store: Store
  ) async throws -> (found: [String], wanted: [String]) {
    try await store.transactions.read { transaction in
      let found = try transaction.connection.rows(
        "SELECT database_id, field_number, value_key, record_number FROM value_index", []
      ) { "\($0.integer(0)) \($0.integer(1)) \($0.bytes(2)) \($0.integer(3))" }
      let databases = try transaction.connection.rows(
        "SELECT database_id FROM databases", []
      ) { DatabaseID(rawValue: $0.integer(0)) }
      var wanted: [String] = []
      for database in databases {
        let address = try DatabaseTable(transaction: transaction).address(of: database)
        let rows = try transaction.connection.rows(
          "\(StoredRecord.selection) WHERE database_id = $1", [.integer(database.rawValue)],
          StoredRecord.Row.init)
        for row in rows {
          let stored = try RecordTable(transaction: transaction).record(row, in: database)
          guard
            let type = try RecordTypeTable(transaction: transaction).type(
              named: stored.record.recordType, at: address)
          else { continue }
          wanted += try ValueIndexTable(transaction: transaction).entries(
            of: stored.record, type: type, at: address
          ).list.map {
            "\(database.rawValue) \($0.fieldNumber) \($0.key) \(stored.number)"
          }
        }
      }
      return (found.sorted(), wanted.sorted())
    }
  }

  @Test(
    "whatever is saved while options change, the index is exact when the work is done",
    arguments: Seeds.some(6))
  func property(seed: Int) async throws {
    try await withTemporaryDirectory { directory in
      var configuration = StoreConfiguration()
      configuration.tuning.cacheKilobytes = 4096
      let store = try await Store.open(
        at: directory + "/a.sqlite", configuration: configuration)
      let beside = try await Store.open(
        at: directory + "/a.sqlite", configuration: StoreConfiguration(role: .tool))
      let test = try await TestStore(store)
      var generator = SeededGenerator(seed: seed)
      _ = try await beside.schemas.importSchema(
        Self.schema([.queryable]), of: Self.container, isDryRun: false)
      for round in 0..<120 {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<5:
          var operations: [RecordOperation] = []
          for _ in 0..<Int.random(in: 1...150, using: &generator) {
            let name = "r\(Int.random(in: 0..<700, using: &generator))"
            guard !operations.contains(where: { $0.recordID.recordName == name }) else { continue }
            operations.append(
              RecordOperation(
                kind: .forceUpdate, recordID: RecordID(recordName: name), recordType: "Note",
                fields: [
                  "title": generator.chance(1, in: 5)
                    ? nil : .string("word\(Int.random(in: 0..<9, using: &generator)) two"),
                  "other": .int64(Int64.random(in: 0..<5, using: &generator)),
                ]))
          }
          let database = generator.pick([test.publicID, test.privateID])
          _ = try await test.modify(operations, in: database, at: Int64(round))
        case 5:
          _ = try await test.delete("r\(Int.random(in: 0..<700, using: &generator))")
        case 6, 7:
          let indexes = FieldIndexes(rawValue: UInt8.random(in: 0...7, using: &generator))
          var system: [SystemField: FieldIndexes] = [:]
          for field in SystemField.inSchema where generator.chance(1, in: 2) {
            system[field] = generator.pick([[.queryable], [.sortable], [.queryable, .sortable]])
          }
          let outcome = try await beside.schemas.importSchema(
            Self.schema(indexes, system: system), of: Self.container, isDryRun: false)
          #expect(outcome.refusals.isEmpty, "seed \(seed), round \(round)")
        default:
          for _ in 0..<Int.random(in: 1...4, using: &generator) {
            _ = try await generator.pick([store, beside]).maintenance.continueIndexWork()
          }
        }
      }
      while try await store.maintenance.continueIndexWork() != nil {}
      #expect(try await store.schemas.indexWork().isEmpty)
      let entries = try await Self.entries(of: store)
      #expect(entries.found == entries.wanted, "seed \(seed)")
      await beside.close()
      await store.close()
    }
  }

  @Test("work that a process left is gone on with, and until it is done the field is not ready")
  func resumed() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      var store = try await Store.open(at: path)
      var test = try await TestStore(store)
      _ = try await store.schemas.importSchema(Self.schema([]), of: Self.container, isDryRun: false)
      for batch in 0..<5 {
        _ = try await test.modify(
          (0..<200).map {
            RecordOperation(
              kind: .create, recordID: RecordID(recordName: "\(batch)-\($0)"), recordType: "Note",
              fields: ["title": .string("t\($0)")])
          }, at: Int64(batch))
      }
      _ = try await store.schemas.importSchema(
        Self.schema([.queryable]), of: Self.container, isDryRun: false)
      let query = RecordQuery(
        query:
          Query(
            recordType: "Note", filters: [Filter(.field("title"), .equals, .string("t7"))]),
        zoneID: .default, limit: 10)
      func search(_ test: TestStore) async throws -> Int {
        try await test.store.records.records(matching: query, in: test.publicID).records.count
      }
      let early = try? await search(test)
      #expect(early == nil)
      let failure = await #expect(throws: ItemFailure.self) { _ = try await search(test) }
      #expect(failure?.code == .notReady)
      let started = try await store.schemas.indexWork()
      #expect(started.map(\.total) == [1000])
      for _ in 0..<3 { _ = try await store.maintenance.continueIndexWork() }
      let done = try await store.schemas.indexWork().map(\.done)
      // A process that dies leaves just these files behind.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: path + suffix, toPath: directory + "/b.sqlite" + suffix)
      }
      await store.close()
      store = try await Store.open(at: directory + "/b.sqlite")
      test = try await TestStore(store)
      #expect(try await store.schemas.indexWork().map(\.done) == done)
      var steps = 0
      while try await store.maintenance.continueIndexWork() != nil { steps += 1 }
      #expect(steps < 6)
      #expect(try await search(test) == 5)
      await store.close()
    }
  }

  @Test("an option that is taken away takes its entries out of the index")
  func dropped() async throws {
    try await withTemporaryDirectory { directory in
      let store = try await Store.open(at: directory + "/a.sqlite")
      let test = try await TestStore(store)
      try await test.save("a", ["title": .string("x"), "other": .int64(1)])
      let outcome = try await store.schemas.importSchema(
        Self.schema([]), of: Self.container, isDryRun: false)
      #expect(outcome.changes.count == 2)
      while try await store.maintenance.continueIndexWork() != nil {}
      let entries = try await Self.entries(of: store)
      #expect(entries.found == entries.wanted)
      #expect(entries.found.count == 4)
      await store.close()
    }
  }

  @Test("a search by a system field waits for its index, and finds what was saved without it")
  func systemField() async throws {
    try await withTemporaryDirectory { directory in
      let store = try await Store.open(at: directory + "/a.sqlite")
      let test = try await TestStore(store)
      func entryCount() async throws -> Int { try await Self.entries(of: store).found.count }
      func search() async throws -> [String] {
        let query = Query(
          recordType: "Note", filters: [Filter(.field("other"), .greaterThan, .int64(0))],
          sortKeys: [SortKey(.system(.modifiedTimestamp), ascending: false)])
        return try await test.store.records.records(
          matching: RecordQuery(query: query, zoneID: .default, limit: 10), in: test.publicID
        ).records.map(\.recordID.recordName)
      }
      _ = try await store.schemas.importSchema(
        Self.schema([], system: [:]), of: Self.container, isDryRun: false)
      for round in 1...3 {
        try await test.save("r\(round)", ["other": .int64(1)], at: Int64(round))
      }
      // The creation's time and the number, but neither the creator nor when it was changed.
      #expect(try await entryCount() == 6)
      _ = try await store.schemas.importSchema(
        Self.schema([], system: [.modifiedTimestamp: [.sortable]]), of: Self.container,
        isDryRun: false)
      let failure = await #expect(throws: ItemFailure.self) { _ = try await search() }
      #expect(failure?.code == .notReady)
      while try await store.maintenance.continueIndexWork() != nil {}
      #expect(try await search() == ["r3", "r2", "r1"])
      #expect(try await entryCount() == 9)
      _ = try await store.schemas.importSchema(
        Self.schema([], system: [:]), of: Self.container, isDryRun: false)
      while try await store.maintenance.continueIndexWork() != nil {}
      #expect(try await entryCount() == 6)
      await store.close()
    }
  }
}
