import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

/// Tests of decisions that are dropped before they are written.
struct DroppedDecisionTests {
  @Test(
    "an atomic request that fails is undone",
    arguments: StoreEngine.allCases)
  func undone(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let zone = try await test.makeZone("z")
      func create(_ names: String...) async throws -> [String] {
        let operations = names.map {
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: $0, zoneID: zone), recordType: "Note",
            fields: ["n": .int64(1)])
        }
        return try await test.modify(operations, in: test.privateID, atomic: true)
          .map(\.summary)
      }
      #expect(try await create("taken") == ["saved"])
      for round in 0..<3 {
        #expect(try await create("new", "taken") == ["atomic", "exists"])
        #expect(try await test.record("new", zone: zone, in: test.privateID) == nil)
        #expect(try await create("a\(round)", "b\(round)") == ["saved", "saved"])
      }
      let store = test.store
      let state = try await StoredState(of: store, databases: [test.privateID])
      #expect(state.records.count == 7)
      #expect(state.index == state.wantedIndex)
      #expect(state.faults.isEmpty)
    }
  }

  @Test(
    "an overlay has what dictionaries have that are copied at each mark", arguments: Seeds.some(3))
  func model(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    var stored: [Int: Int] = [:]
    var decided: [Int: Int?] = [:]
    var overlay = RowOverlay<Int, Int>()
    var marks: [(mark: RowOverlay<Int, Int>.Mark, decided: [Int: Int?])] = []
    func value(_ key: Int) -> Int? { decided[key] ?? stored[key] }
    for _ in 0..<4_000 {
      let key = Int.random(in: 0..<12, using: &random)
      if overlay[key] == nil, random.chance(1, in: 2) { overlay.note(stored[key], for: key) }
      if let entry = overlay[key] { #expect(entry.row == value(key)) }
      switch Int.random(in: 0..<10, using: &random) {
      case 0...4:
        if overlay[key] == nil { overlay.note(stored[key], for: key) }
        let row = random.chance(1, in: 3) ? nil : Int.random(in: 0..<1_000, using: &random)
        overlay.decide(row, for: key)
        decided[key] = .some(row)
      case 5: marks.append((overlay.mark(), decided))
      case 6, 7:
        guard let last = marks.popLast() else { continue }
        overlay.restore(to: last.mark)
        decided = last.decided
      case 8: _ = marks.popLast()
      default:
        guard marks.isEmpty else { continue }
        for (key, before, row) in overlay.takeChanges() {
          #expect(before == stored[key])
          #expect(decided[key] == .some(row))
          stored[key] = row
          decided[key] = nil
        }
        #expect(decided.isEmpty)
        #expect(!overlay.hasChanges)
        if random.chance(1, in: 4) { overlay.forget() }
      }
    }
  }

  @Test(
    "a statement finds what its transaction decided before, and a job that fails leaves nothing",
    arguments: StoreEngine.allCases)
  func statements(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let store = test.store
      let database = test.privateID
      @Sendable func count(_ table: String, _ transaction: StoreTransaction) throws -> Int64 {
        try transaction.connection.first(
          "SELECT COUNT(*) FROM \(table) WHERE database_id = $1", [.integer(database.rawValue)]
        ) { $0.integer(0) } ?? -1
      }
      @Sendable func save(_ names: [String], _ transaction: StoreTransaction) throws {
        let operations = names.map {
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: $0), recordType: "Note",
            fields: ["n": .int64(1)])
        }
        var modifier = try RecordModifier(
          PreparedModification(
            RecordModification(
              database: database, operations: operations, isAtomic: false,
              origin: ChangeOrigin(userRecordName: TestStore.alice), isByAdministrator: true,
              timestamp: TestStore.time(1))), transaction: transaction)
        _ = try modifier.run()
      }
      try await store.transactions.write { try save(["first"], $0) }
      let jobs = [
        KeptJob { transaction in
          try save(["a", "b"], transaction)
          let writes = transaction.gate.writeCount
          // Nothing is written before a statement asks.
          #expect(!transaction.setsSavepoints || writes > 0)
          #expect(try count("records", transaction) == 3)
          return ["done"]
        },
        KeptJob { transaction in
          try save(["c"], transaction)
          throw StoreError(.exists, "made to fail")
        },
        KeptJob { transaction in
          try save(["d"], transaction)
          return ["\(try count("records", transaction))"]
        },
      ]
      let results = try await store.shareCommit(jobs)
      #expect(results[0] == ["done"])
      #expect(results[2] == ["4"])
      let state = try await StoredState(of: store, databases: [database])
      #expect(state.records.count == 4)
      #expect(state.index == state.wantedIndex)
      #expect(state.faults.isEmpty)
    }
  }
}
