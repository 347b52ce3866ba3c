import CloudKitModel
import Foundation
import PropertyTesting
import Storage
import StoreModel
import Testing

extension RecordStoreConformance {
  struct ChangeHistory {
    static let engines = StoreEngine.allCases

    @Test(
      "whatever is dispatched at once, what waits and what is past is as a plain model has it",
      arguments: engines, [0, 1, 20])
    func model(_ engine: StoreEngine, _ limit: Int) async throws {
      for seed in Seeds.some(2) {
        try await engine.withStore {
          $0.changeHistory.changes = limit
        } _: { test in
          try await DispatchModel(test, limit: limit, seed: seed).run(steps: 60)
        }
      }
    }

    @Test(
      "changes that others wait before are refused, with all that is told with them",
      arguments: engines)
    func outOfOrder(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        for name in ["a", "b", "c"] { try await test.save(name) }
        let firings = try await test.storedSubscriptions()
        let entries = try await test.outbox()
        func complete(_ numbers: [Int], isWhole: Bool = true) async throws -> Int {
          try await test.store.outbox.completeDispatch(
            of: numbers.map {
              MatchedChange(entry: entries[$0], firings: firings, isWhole: isWhole)
            }, timestamp: TestStore.time(1)
          ).logged.count
        }
        for numbers in [[1], [0, 2]] {
          let refused = await storeError { _ = try await complete(numbers) }
          #expect(refused == .outOfOrder)
          #expect(try await test.outbox() == entries)
          #expect(try await test.log().notifications.isEmpty)
        }
        #expect(try await complete([0]) == 1)
        // The second report of a change, together with later ones, is ignored.
        #expect(try await complete([0, 1]) == 1)
        #expect(try await complete([2], isWhole: false) == 1)
        try await test.save("d")
        let behind = try await test.outbox()
        #expect(behind.map(\.sequence).first == entries[2].sequence && behind.count == 2)
        let refused = await storeError {
          _ = try await test.store.outbox.completeDispatch(
            of: [MatchedChange(entry: behind[1], firings: firings)], timestamp: TestStore.time(2))
        }
        #expect(refused == .outOfOrder)
        #expect(try await test.outbox() == behind)
      }
    }

    @Test(
      "of a change that is too large, all is kept but the fields",
      arguments: engines)
    func large(_ engine: StoreEngine) async throws {
      try await engine.withStore {
        $0.changeHistory.changeBytes = 1_000
      } _: { test in
        try await test.watch()
        try await test.save("large", ["text": .string(String(repeating: "x", count: 2_000))])
        try await test.save("small", ["text": .string("x")])
        #expect(try await test.outbox().count == 2)
        try await test.dispatch(at: 5)
        let all = try await test.pastChanges()
        #expect(all.map(\.recordName) == ["small", "large"])
        #expect(all.map(\.hasFields) == [true, false])
        #expect(all.map { $0.change.record?.fields.isEmpty } == [false, true])
        #expect(all[1].change.record?.recordType == "Note" && all[1].change.event == .recordCreated)
        #expect(all.map(\.dispatched) == [TestStore.time(5), TestStore.time(5)])
        #expect(try await test.pastChanges(of: "large") == [all[1]])
        #expect(try await test.pastChanges(of: "small") == [all[0]])
      }
    }

    @Test(
      "changes of a record are found among those of others, whose contents name it too",
      arguments: engines)
    func ofOneRecord(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.watch()
        var sequences: [Int64] = []
        for number in 0..<1_200 {
          let name = number % 400 == 7 ? "it" : "other-\(number)"
          try await test.save(name, ["text": .string(number % 3 == 0 ? "of it" : "of none")])
          if name == "it" { sequences.append(try #require(try await test.outbox().last).sequence) }
          if number % 100 == 99 { try await test.dispatch(at: Int64(number)) }
        }
        let found = try await test.pastChanges(of: "it")
        #expect(found.map(\.sequence) == sequences.reversed())
        #expect(found.map(\.dispatched) == [899, 499, 99].map { TestStore.time($0) })
        #expect(try await test.pastChanges(of: "it", before: sequences[2]) == Array(found[1...]))
        #expect(try await test.pastChanges(of: "it", limit: 2) == Array(found[..<2]))
        #expect(try await test.pastChanges(of: "nothing").isEmpty)
      }
    }

    @Test("trimming drops what was dispatched before, and nothing that waits", arguments: engines)
    func trimming(_ engine: StoreEngine) async throws {
      try await engine.withStore {
        $0.changeHistory.age = 100
      } _: { test in
        try await test.watch()
        for number in 0..<2_000 { try await test.save("old-\(number)") }
        try await test.dispatch(at: 10)
        for database in [test.publicID, test.privateID] {
          try await test.save("kept", in: database)
          try await test.dispatch(database, at: 60)
          try await test.save("waits", in: database)
        }
        try await test.store.maintenance.trim(at: TestStore.time(120))
        for database in [test.publicID, test.privateID] {
          #expect(try await test.pastChanges(in: database).map(\.recordName) == ["kept"])
          #expect(
            try await test.outbox(of: database).map(\.change.record?.recordID.recordName)
              == ["waits"])
        }
        try await test.store.maintenance.trim(at: TestStore.time(1_000))
        #expect(try await test.pastChanges().isEmpty)
        #expect(
          try await test.store.outbox.undispatchedDatabases()
            == [test.privateID, test.publicID].sorted { $0.rawValue < $1.rawValue })
        try await test.dispatch(at: 1_001)
        #expect(try await test.pastChanges().map(\.recordName) == ["waits"])
      }
    }
  }
}

/// Saves and dispatches at random, and keeps in plain lists what a store must have of it.
private final class DispatchModel {
  private struct Change: Equatable {
    var name: String
    var dispatched: Timestamp
  }

  private let test: TestStore
  private let limit: Int
  private var random: SeededGenerator
  private var waiting: [String] = []
  private var past: [Change] = []
  private var settled: SubscriptionName?
  private var logged = 0
  private var saved = 0

  init(_ test: TestStore, limit: Int, seed: Int) {
    self.test = test
    self.limit = limit
    random = SeededGenerator(seed: seed)
  }

  func run(steps: Int) async throws {
    for name in ["r", "s", "t"] { _ = try await test.subscribe(noteSubscription(name)) }
    for step in 0..<steps {
      if Int.random(in: 0..<3, using: &random) == 0 {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          waiting.append("n\(saved)")
          try await test.save("n\(saved)")
          saved += 1
        }
      } else {
        try await dispatch(at: TestStore.time(Int64(step)))
      }
      try await check()
    }
    #expect(saved > 20 && logged > 20)
  }

  /// Dispatches some of the changes that wait; the last of them perhaps in part.
  private func dispatch(at timestamp: Timestamp) async throws {
    let firings = try await test.storedSubscriptions().sorted {
      $0.subscription.subscriptionID < $1.subscription.subscriptionID
    }
    let entries = try await test.outbox().prefix(Int.random(in: 0...6, using: &random))
    var matched: [MatchedChange] = []
    for (place, entry) in entries.enumerated() {
      let rest = firings.filter { firing in
        firing.subscription.subscriptionID > entry.settledThrough?.subscriptionID ?? ""
      }
      let part =
        place == entries.count - 1 && rest.count > 1
        ? Int.random(in: 1...rest.count, using: &random) : rest.count
      let isWhole = part == rest.count
      matched.append(
        MatchedChange(entry: entry, firings: Array(rest.prefix(part)), isWhole: isWhole))
      logged += part
      if isWhole {
        past.append(Change(name: waiting.removeFirst(), dispatched: timestamp))
        settled = nil
      } else {
        settled = rest[part - 1].name
      }
    }
    _ = try await test.store.outbox.completeDispatch(of: matched, timestamp: timestamp)
    // Whoever comes late with the same changes nothing.
    if Bool.random(using: &random) {
      let again = try await test.store.outbox.completeDispatch(of: matched, timestamp: timestamp)
      #expect(again.logged.isEmpty)
    }
  }

  private func check() async throws {
    let entries = try await test.outbox()
    #expect(entries.map(\.change.record?.recordID.recordName) == waiting)
    #expect(entries.first?.settledThrough == settled)
    #expect(entries.dropFirst().allSatisfy { $0.settledThrough == nil })
    #expect(
      try await test.store.outbox.undispatchedDatabases()
        == (waiting.isEmpty ? [] : [test.publicID]))
    #expect(try await test.log(limit: 10_000).notifications.count == logged)
    let found = try await test.pastChanges().map {
      Change(name: $0.recordName ?? "", dispatched: $0.dispatched)
    }
    #expect(found == Array(past.reversed().prefix(found.count)))
    #expect(found.count >= min(limit, past.count))
    // Those of one transaction go together.
    #expect(found.count <= (limit == 0 ? 0 : limit + 8))
  }
}

extension TestStore {
  fileprivate func pastChanges(
    of name: String? = nil, in database: DatabaseID? = nil, before sequence: Int64? = nil,
    limit: Int = 10_000
  ) async throws -> [PastChange] {
    try await store.changeHistory.pastChanges(
      of: name.map { RecordID(recordName: $0) }, in: database ?? publicID, before: sequence,
      limit: limit)
  }
}
