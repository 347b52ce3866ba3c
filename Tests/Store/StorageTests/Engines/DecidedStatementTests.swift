import CloudKitModel
import PropertyTesting
import SQLEngine
import StoreModel
import Synchronization
import Testing

@testable import Storage

/// Tests of statements that wait for the flush (`StoreTransaction.decide`).
struct DecidedStatementTests {
  private static let insertion: Statement =
    "INSERT INTO counters (name, value) VALUES ($1, $2)"

  private static func value(_ name: String, _ transaction: StoreTransaction) throws -> Int64? {
    try transaction.connection.first(
      "SELECT value FROM counters WHERE name = $1", [.text(name)]
    ) { $0.integer(0) }
  }

  private static func values(_ test: TestStore) async throws -> [String: Int64] {
    try await test.store.transactions.write { transaction in
      var values: [String: Int64] = [:]
      for name in ["a", "b"] { values[name] = try value(name, transaction) }
      return values
    }
  }

  /// The tables as dictionaries that are changed at once.
  private struct Model: Equatable {
    /// Rows of a table without an overlay.
    var counters: [String: Int64] = [:]
    /// The versions of the rows of a table with an overlay.
    var tombstones: [String: Int64] = [:]
  }

  /// Changes and reads two tables by statements, and one of them also by its overlay.
  private struct Tables {
    let transaction: StoreTransaction
    let database: DatabaseID
    private let zone: Int64 = 1

    private func key(_ name: String) -> WriteSet.RecordKey {
      WriteSet.RecordKey(database: database, zone: zone, name: name)
    }

    private var place: [SQLValue] { [.integer(database.rawValue), .integer(zone)] }

    /// Reads the row by its key unless the overlay has it.
    func tombstone(_ name: String) throws -> Int64? {
      if let known = transaction.writes.tombstones[key(name)] { return known.row?.version }
      let row = try transaction.besidesWriteSet {
        try transaction.connection.first(
          """
          SELECT version FROM tombstones
          WHERE database_id = $1 AND zone_number = $2 AND record_name = $3
          """, place + [.text(name)]
        ) {
          WriteSet.Tombstone(
            typeNumber: 1, version: $0.integer(0), deleted: Timestamp(milliseconds: 0))
        }
      }
      transaction.writes.tombstones.note(row, for: key(name))
      return row?.version
    }

    func set(_ version: Int64?, of name: String) throws {
      _ = try tombstone(name)
      transaction.writes.tombstones.decide(
        version.map {
          WriteSet.Tombstone(typeNumber: 1, version: $0, deleted: Timestamp(milliseconds: 0))
        }, for: key(name))
    }

    func all() throws -> Model {
      var model = Model()
      try transaction.connection.query(
        "SELECT name, value FROM counters WHERE name LIKE 'test %'", []
      ) { model.counters[$0.text(0)] = $0.integer(1) }
      try transaction.connection.query(
        "SELECT record_name, version FROM tombstones WHERE database_id = $1 AND zone_number = $2",
        place
      ) { model.tombstones[$0.text(0)] = $0.integer(1) }
      return model
    }

    /// Decides on a random statement, and does the same with the model.
    func decide(_ model: inout Model, using random: inout SeededGenerator) throws {
      let name = "test \(Int.random(in: 0..<4, using: &random))"
      let number = Int64.random(in: 1..<1_000, using: &random)
      switch Int.random(in: 0..<7, using: &random) {
      case 0:
        try transaction.decide(
          """
          INSERT INTO counters (name, value) VALUES ($1, $2)
          ON CONFLICT (name) DO UPDATE SET value = excluded.value
          """, [.text(name), .integer(number)])
        model.counters[name] = number
      case 1:
        try transaction.decide(
          "UPDATE counters SET value = 1000 - value WHERE name = $1", [.text(name)])
        model.counters[name] = model.counters[name].map { 1_000 - $0 }
      case 2:
        try transaction.decide("DELETE FROM counters WHERE name = $1", [.text(name)])
        model.counters[name] = nil
      case 3:
        try transaction.decide(
          """
          INSERT INTO counters (name, value)
          SELECT $3, COALESCE(MAX(version), 0) FROM tombstones
          WHERE database_id = $1 AND zone_number = $2
          ON CONFLICT (name) DO UPDATE SET value = excluded.value
          """, place + [.text(name)])
        model.counters[name] = model.tombstones.values.max() ?? 0
      case 4:
        try transaction.decide(
          """
          UPDATE tombstones SET version = 1000 - version
          WHERE database_id = $1 AND zone_number = $2 AND record_name = $3
          """, place + [.text(name)])
        model.tombstones[name] = model.tombstones[name].map { 1_000 - $0 }
      case 5:
        try transaction.decide(
          "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2 AND version < $3",
          place + [.integer(number)])
        model.tombstones = model.tombstones.filter { $0.value >= number }
      default:
        let version = random.chance(1, in: 3) ? nil : number
        try set(version, of: name)
        model.tombstones[name] = version
      }
    }
  }

  @Test(
    "statements and rows that wait do what they do at once, and are dropped together",
    arguments: StoreEngine.allCases, Seeds.some(3))
  func model(_ engine: StoreEngine, _ seed: Int) async throws {
    try await engine.withStore { test in
      let database = test.privateID
      let (model, restored) = try await test.store.transactions.write {
        transaction -> (Model, Int) in
        let tables = Tables(transaction: transaction, database: database)
        var random = SeededGenerator(seed: seed)
        var (model, restored) = (Model(), 0)
        var marks: [(mark: StoreTransaction.Mark, model: Model, writeCount: Int)] = []
        for _ in 0..<1_500 {
          switch Int.random(in: 0..<40, using: &random) {
          case 0: #expect(try tables.all() == model)
          case 1: try transaction.write()
          case 2, 3:
            let name = "test \(Int.random(in: 0..<4, using: &random))"
            #expect(try tables.tombstone(name) == model.tombstones[name])
          case 4:
            let name = "test \(Int.random(in: 0..<4, using: &random))"
            #expect(try Self.value(name, transaction) == model.counters[name])
          case 5...10:
            marks.append((try transaction.mark("test"), model, transaction.gate.writeCount))
          case 11...15:
            guard let last = marks.popLast() else { continue }
            guard last.writeCount == transaction.gate.writeCount else {
              #expect(throws: SavepointNeeded.self) { try transaction.restore(last.mark) }
              continue
            }
            try transaction.restore(last.mark)
            model = last.model
            restored += 1
          default: try tables.decide(&model, using: &random)
          }
        }
        return (model, restored)
      }
      #expect(restored > 20)
      let stored = try await test.store.transactions.write {
        try Tables(transaction: $0, database: database).all()
      }
      #expect(stored == model)
    }
  }

  @Test(
    "a row that was added before a mark is not dropped with its removal after the mark",
    arguments: StoreEngine.allCases)
  func addedAndRemoved(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      try await test.store.transactions.write { transaction in
        let tables = Tables(transaction: transaction, database: test.privateID)
        try tables.set(1, of: "test")
        let mark = try transaction.mark("test")
        try tables.set(nil, of: "test")
        // Nothing is to be written of the row.
        try transaction.write()
        #expect(throws: SavepointNeeded.self) { try transaction.restore(mark) }
      }
    }
  }

  @Test(
    "a job that fails leaves nothing of its statements, and no job runs twice for it",
    arguments: StoreEngine.allCases)
  func failingJob(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let runs = Mutex(0)
      func job(
        _ body: @escaping @Sendable (StoreTransaction) throws -> [String]
      ) -> KeptJob {
        KeptJob { transaction in
          runs.withLock { $0 += 1 }
          return try body(transaction)
        }
      }
      let results = try await test.store.shareCommit([
        job {
          try $0.decide(Self.insertion, [.text("a"), 1])
          return []
        },
        job {
          try $0.decide("UPDATE counters SET value = 7 WHERE name = $1", [.text("a")])
          throw StoreError(.exists, "made to fail")
        },
        job {
          try $0.decide(Self.insertion, [.text("b"), 2])
          return []
        },
      ])
      #expect(runs.withLock { $0 } == 3)
      #expect(results[0] == [] && results[2] == [])
      #expect(results[1].contains { $0.contains("made to fail") })
      #expect(try await Self.values(test) == ["a": 1, "b": 2])
    }
  }

  @Test(
    "a statement that fails in the flush fails its job alone", arguments: StoreEngine.allCases)
  func failingStatement(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let results = try await test.store.shareCommit(
        ["a", "a", "b"].map { name in
          KeptJob {
            try $0.decide(Self.insertion, [.text(name), 1])
            return []
          }
        })
      #expect(results[0] == [] && results[2] == [])
      #expect(results[1].count == 1)
      #expect(try await Self.values(test) == ["a": 1, "b": 1])
    }
  }

  @Test(
    "one job that fails after it has written costs the others of its group few commits",
    arguments: [true, false])
  func fewCommits(isKnown: Bool) async throws {
    // Where databases are separate, a job has a commit of its own anyway.
    for engine in StoreEngine.allCases where engine != .separateDatabases {
      try await engine.withStore { test in
        let tally = test.store.transactions.writer.tally
        let before = tally.metrics.commits
        let results = try await test.store.shareCommit(
          (0..<32).map { number in
            KeptJob {
              // The first decides what fails in the flush, the second fails by itself.
              let name = number == 20 && !isKnown ? "n3" : "n\(number)"
              try $0.decide(Self.insertion, [.text(name), 1])
              guard number == 20, isKnown else { return [] }
              try $0.write()
              throw StoreError(.exists, "made to fail")
            }
          })
        #expect(results.count { $0.isEmpty } == 31)
        let counted = try await test.store.transactions.read {
          try $0.connection.integer("SELECT COUNT(*) FROM counters WHERE name LIKE 'n%'", [])
        }
        #expect(counted == 31)
        // The first and the last write are the test's own. Several writers may share the jobs.
        #expect(tally.metrics.commits - before <= 10, "\(engine)")
      }
    }
  }

  @Test(
    "deletions and references that an atomic request drops need no second run",
    arguments: StoreEngine.allCases)
  func droppedRequest(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let zone = try await test.makeZone("z")
      let database = test.privateID
      for name in ["a", "b", "taken"] { try await test.save(name, zone: zone, in: database) }
      func operation(_ kind: RecordOperation.Kind, _ name: String) -> RecordOperation {
        let target = Reference(recordName: "taken", action: .deleteSelf)
        return RecordOperation(
          kind: kind, recordID: RecordID(recordName: name, zoneID: zone), recordType: "Note",
          fields: kind == .create ? ["target": .reference(target)] : [:])
      }
      // The field is made before.
      #expect(
        try await test.modify([operation(.create, "first")], in: database).map(\.summary)
          == ["saved"])
      let request = PreparedModification(
        RecordModification(
          database: database,
          operations: [
            operation(.forceDelete, "a"), operation(.create, "c"), operation(.create, "d"),
            operation(.forceDelete, "b"), operation(.create, "taken"),
          ], isAtomic: true, origin: ChangeOrigin(userRecordName: TestStore.alice),
          isByAdministrator: true, timestamp: TestStore.time(1)))
      let runs = Mutex(0)
      let job = KeptJob { transaction in
        runs.withLock { $0 += 1 }
        var modifier = try RecordModifier(request, transaction: transaction)
        return try modifier.run().recordOutcomes(
          for: [], in: database, tags: transaction.context.changeTags
        ).map(\.summary)
      }
      let results = try await test.store.shareCommit([job])
      #expect(results == [["atomic", "atomic", "atomic", "atomic", "exists"]])
      #expect(runs.withLock { $0 } == 1)
      let state = try await StoredState(of: test.store, databases: [database])
      #expect(state.records.count == 4)
      #expect(state.faults.isEmpty)
    }
  }

  @Test("outside of transactions a statement runs at once", arguments: StoreEngine.allCases)
  func outside(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      try await test.store.transactions.readOne {
        try $0.decide(Self.insertion, [.text("a"), 1])
      }
      #expect(try await Self.values(test) == ["a": 1])
    }
  }

  @Test("the gate knows all tables of a store", arguments: StoreEngine.allCases)
  func tables(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let unknown = try await test.store.transactions.write { transaction in
        try SQLTable.names(transaction.connection).filter {
          transaction.gate.tables(named: [$0]) == 0
        }
      }
      #expect(unknown == ["schema_version"])
      #expect(Schema.tableNames.count <= 128)
    }
  }

  @Test(
    "what a failed job learned of its own changes is forgotten", arguments: StoreEngine.allCases)
  func caches(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let database = test.privateID
      try await test.save("first")
      let subscription = Subscription(subscriptionID: "all", kind: .database(recordType: nil))
      let number = Mutex<Int64>(0)
      let failing = KeptJob { transaction in
        let zones = ZoneTable(transaction: transaction)
        try zones.add(ZoneID(zoneName: "failed"), in: database)
        let added = try zones.number(of: ZoneID(zoneName: "failed"), in: database) ?? 0
        number.withLock { $0 = added }
        #expect(try zones.id(of: added, in: database).zoneName == "failed")
        var modifier = try SubscriptionModifier(
          subscriber: TestStore.alice, database: database, refusesEqualContent: false,
          timestamp: TestStore.time(1), transaction: transaction)
        _ = try modifier.save(subscription)
        #expect(try OutboxTable(transaction: transaction).listeners(in: database).isSubscribed)
        let types = RecordTypeTable(transaction: transaction)
        let address = try DatabaseTable(transaction: transaction).address(of: database)
        _ = try types.add(named: "Failed", at: address)
        #expect(try types.type(named: "Failed", at: address) != nil)
        throw ItemFailure(.invalid, "made to fail")
      }
      let results = try await test.store.shareCommit([failing])
      #expect(results[0].contains { $0.contains("made to fail") })
      let other = try await test.makeZone("other")
      try await test.store.transactions.write { transaction throws in
        let zones = ZoneTable(transaction: transaction)
        #expect(try zones.number(of: other, in: database) == number.withLock { $0 })
        #expect(try zones.id(of: number.withLock { $0 }, in: database).zoneName == "other")
        _ = try DatabaseTable(transaction: transaction).raiseSubscriptionVersion(of: database)
      }
      try await test.store.transactions.write { transaction throws in
        #expect(
          try !OutboxTable(transaction: transaction).listeners(in: database).isSubscribed)
        let address = try DatabaseTable(transaction: transaction).address(of: database)
        #expect(
          try RecordTypeTable(transaction: transaction).type(named: "Failed", at: address) == nil)
      }
    }
  }
}
