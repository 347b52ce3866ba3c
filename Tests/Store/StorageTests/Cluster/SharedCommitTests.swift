import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

/// Tests of the rows that jobs decide on, which are written once for a whole commit (`WriteSet`).
///
/// One store has jobs that share commits. In the other, each job has a commit of its own and
/// nothing is prepared. Both must return and contain the same.
struct SharedCommitTests {
  /// A store, its databases, and whether it has jobs share commits.
  private struct Side {
    let store: Store
    let test: TestStore
    let isShared: Bool

    /// Makes ready what can be before the transaction.
    func prepared(_ modification: RecordModification) -> PreparedModification {
      PreparedModification(modification, by: isShared ? store.transactions.writer.schemas : nil)
    }

    func perform(_ jobs: [KeptJob]) async throws -> [[String]] {
      isShared ? try await store.shareCommit(jobs) : try await store.commitEach(jobs)
    }

    var state: StoredState {
      get async throws {
        try await StoredState(of: store, databases: [test.privateID, test.publicID])
      }
    }
  }

  private enum Step {
    /// `fails`: the job throws when it has done everything.
    case records(
      [RecordOperation], isPublic: Bool, isAtomic: Bool, quota: Int64?, requestID: String?,
      fails: Bool)
    case query(Query, isPublic: Bool)
    case makeZone(String)
    case deleteZone(String)
    case indexes(FieldIndexes)
  }

  private func withSides(
    _ engine: StoreEngine, _ body: (_ shared: Side, _ single: Side) async throws -> Void
  ) async throws {
    try await engine.withStore { one in
      try await engine.withStore { other in
        let shared = Side(store: one.store, test: one, isShared: true)
        let single = Side(store: other.store, test: other, isShared: false)
        try await body(shared, single)
      }
    }
  }

  @Test(
    "jobs that share a commit do what each does alone, though some of them fail",
    arguments: StoreEngine.allCases, Seeds.some(2))
  func random(_ engine: StoreEngine, _ seed: Int) async throws {
    try await withSides(engine) { shared, single in
      for side in [shared, single] {
        try await side.test.watch()
        _ = try await side.test.makeZone("z")
      }
      var random = SeededGenerator(seed: seed)
      var prepared = 0
      for round in 0..<40 {
        let steps = (0..<Int.random(in: 1...12, using: &random)).map { _ in
          step(using: &random)
        }
        let comment: Comment = "\(engine), seed \(seed), round \(round): \(steps)"
        var told: [[[String]]] = []
        for side in [shared, single] {
          let jobs = steps.map { job($0, on: side, at: Int64(round), prepared: &prepared) }
          told.append(try await side.perform(jobs))
          while try await side.store.maintenance.continueIndexWork() != nil {}
        }
        #expect(told[0] == told[1], comment)
        guard round % 8 == 7 else { continue }
        let (left, right) = (try await shared.state, try await single.state)
        #expect(left == right, comment)
        #expect(left.index == left.wantedIndex, comment)
        #expect(left.faults.isEmpty, comment)
      }
      #expect(prepared > 20)
    }
  }

  @Test("deletions are remembered and forgotten within a commit", arguments: StoreEngine.allCases)
  func deletions(_ engine: StoreEngine) async throws {
    func records(
      _ kind: RecordOperation.Kind, _ names: String..., fails: Bool = false
    ) -> Step {
      let operations = names.map {
        RecordOperation(
          kind: kind, recordID: RecordID(recordName: $0, zoneID: ZoneID(zoneName: "z")),
          recordType: "Note", fields: ["count": .int64(1)])
      }
      return .records(
        operations, isPublic: false, isAtomic: false, quota: nil, requestID: nil, fails: fails)
    }
    try await withSides(engine) { shared, single in
      for side in [shared, single] { _ = try await side.test.makeZone("z") }
      let commits = [
        [records(.create, "a", "b")],
        [records(.create, "c"), records(.forceDelete, "a"), records(.create, "a")],
        [records(.forceDelete, "b")],
        [records(.create, "b", "d", fails: true), records(.create, "b")],
      ]
      var prepared = 0
      for steps in commits {
        for side in [shared, single] {
          _ = try await side.perform(steps.map { job($0, on: side, at: 1, prepared: &prepared) })
        }
        let (left, right) = (try await shared.state, try await single.state)
        #expect(left == right)
        #expect(left.faults.isEmpty)
      }
      #expect(try await shared.state.tombstones.isEmpty)
    }
  }

  /// Returns a new job for the step. Its results are the outcomes of the step.
  private func job(
    _ step: Step, on side: Side, at round: Int64, prepared: inout Int
  ) -> KeptJob {
    let test = side.test
    switch step {
    case .records(let operations, let isPublic, let isAtomic, let quota, let requestID, let fails):
      var modification = RecordModification(
        database: isPublic ? test.publicID : test.privateID, operations: operations,
        isAtomic: isAtomic, origin: ChangeOrigin(userRecordName: TestStore.alice, deviceID: nil),
        isByAdministrator: true, timestamp: TestStore.time(round), requestID: requestID)
      modification.quota = quota
      let ready = side.prepared(modification)
      prepared += ready.creations.count { $0 != nil }
      let needs = ReadNeeds(
        database: modification.database, records: operations.map(\.recordID))
      return KeptJob(needs: [needs]) { transaction in
        let outcomes = try RepeatableModification(prepared: ready, transaction: transaction).run()
        if fails { throw StoreError(.exists, "made to fail") }
        return outcomes.recordOutcomes(
          for: ready.creations, in: ready.request.database, tags: transaction.context.changeTags
        ).map(\.told)
      }
    case .query(let query, let isPublic):
      let database = isPublic ? test.publicID : test.privateID
      return KeptJob { transaction in
        let page = try RecordSearch(
          RecordQuery(query: query, zoneID: nil, limit: 200), in: database,
          at: try DatabaseTable(transaction: transaction).address(of: database),
          transaction: transaction,
          effort: SearchEffort())?.run()
        return page?.records.map { RecordOutcome.saved($0).told }.sorted() ?? []
      }
    case .makeZone(let name):
      return zoneJob(.create(ZoneID(zoneName: name)), in: test.privateID)
    case .deleteZone(let name):
      return zoneJob(.delete(ZoneID(zoneName: name)), in: test.privateID)
    case .indexes(let indexes):
      return KeptJob { transaction in
        let current = try RecordTypeTable(transaction: transaction).schema(
          of: TestStore.container, in: .development)
        var target = current
        target.recordTypes["Note"]?.fields["text"]?.indexes = indexes
        try SchemaModifier(
          transaction: transaction, container: TestStore.container, environment: .development
        ).apply(current.changes(to: target))
        return []
      }
    }
  }

  private func zoneJob(_ operation: ZoneOperation, in database: DatabaseID) -> KeptJob {
    KeptJob { transaction in
      try ZoneModifier(
        database: database, origin: ChangeOrigin(userRecordName: TestStore.alice, deviceID: nil),
        timestamp: TestStore.time(0), transaction: transaction
      ).run([operation]).map { outcome in
        switch outcome {
        case .saved(let zone): "saved \(zone.zoneID)"
        case .deleted(let zoneID): "deleted \(zoneID)"
        case .failed(let zoneID, let failure): "\(zoneID): \(failure.code)"
        }
      }
    }
  }

  // MARK: Random steps

  private func step(using random: inout SeededGenerator) -> Step {
    switch Int.random(in: 0..<16, using: &random) {
    case 0, 1:
      let filter = random.pick([
        Filter(.field("text"), .equals, .string(random.pick(Self.texts))),
        Filter(.field("count"), .greaterThan, .int64(Int64.random(in: 0..<4, using: &random))),
        Filter(.field("text"), .containsAllTokens, .string("sea")),
      ])
      return .query(
        Query(recordType: "Note", filters: [filter]), isPublic: Bool.random(using: &random))
    case 2: return .makeZone(random.pick(["y", "z"]))
    case 3: return random.chance(1, in: 3) ? .deleteZone(random.pick(["y", "z"])) : .makeZone("z")
    case 4 where random.chance(1, in: 3):
      return .indexes(FieldIndexes(rawValue: UInt8.random(in: 0...7, using: &random)))
    default:
      let isPublic = random.chance(1, in: 4)
      return .records(
        (0..<Int.random(in: 1...6, using: &random)).map { _ in
          operation(isPublic: isPublic, using: &random)
        }, isPublic: isPublic, isAtomic: Bool.random(using: &random),
        quota: random.pick([nil, nil, nil, 1_500, 3_000, 100_000_000]),
        requestID: random.chance(1, in: 8)
          ? "request\(Int.random(in: 0..<9, using: &random))" : nil,
        fails: random.chance(1, in: 10))
    }
  }

  private static let texts = ["", "Deep sea", "sea sea the", "Grün", "a b c d"]

  private func operation(
    isPublic: Bool, using random: inout SeededGenerator
  ) -> RecordOperation {
    let zoneID =
      isPublic || random.chance(1, in: 4)
      ? ZoneID.default : ZoneID(zoneName: random.pick(["y", "z", "z"]))
    let name = "r\(Int.random(in: 0..<12, using: &random))"
    let kind = random.pick(
      [.create, .create, .create, .update, .forceUpdate, .forceReplace, .forceDelete]
        as [RecordOperation.Kind])
    var fields: RecordFields<RecordValue?> = [:]
    if random.chance(2, in: 3) { fields["text"] = .string(random.pick(Self.texts)) }
    if random.chance(2, in: 3) {
      fields["count"] = .int64(Int64.random(in: 0..<5, using: &random))
    }
    if random.chance(1, in: 4) {
      fields["tags"] = .list(of: .string, [.string(random.pick(Self.texts)), .string("x")])
    }
    if random.chance(1, in: 8) {
      fields["target"] = .reference(
        Reference(
          recordName: "r\(Int.random(in: 0..<12, using: &random))",
          action: random.pick([.none, .validate, .deleteSelf])))
    }
    // A field that is new, or known with another type than the one of the value, or not at all.
    if random.chance(1, in: 10) {
      fields["f\(Int.random(in: 0..<6, using: &random))"] = random.pick([
        .int64(1), .double(1.5), .string("one"),
      ])
    }
    var parent: Reference??
    if random.chance(1, in: 5) {
      let name = "r\(Int.random(in: 0..<12, using: &random))"
      parent = .some(random.chance(1, in: 4) ? nil : Reference(recordName: name))
    }
    if random.chance(1, in: 20) { fields["0 bad"] = .int64(1) }
    return RecordOperation(
      kind: kind, recordID: RecordID(recordName: name, zoneID: zoneID),
      recordType: random.pick(["Note", "Note", "Note", "Other"]),
      recordChangeTag: "0", fields: fields, parent: parent)
  }
}

extension RecordOutcome {
  /// The outcome without what the numbers of a store decide.
  var told: String {
    switch self {
    case .saved(let record): "saved \(record.told)"
    case .deleted(let recordID): "deleted \(recordID)"
    // The reason names the record's tag.
    case .failed(let failure) where failure.code == .conflict: "conflict"
    case .failed(let failure):
      "\(failure.code) \(failure.field ?? "") \(failure.reason) "
        + (failure.serverRecord.map(\.told) ?? "")
    }
  }
}

extension Record {
  fileprivate var told: String {
    var record = self
    record.recordChangeTag = nil
    return "\(record)"
  }
}
