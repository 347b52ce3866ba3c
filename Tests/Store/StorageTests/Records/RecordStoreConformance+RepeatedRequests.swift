import CloudKitModel
import Testing

extension RecordStoreConformance {
  struct RepeatedRequests {
    static let engines = StoreEngine.allCases

    private func operation(
      _ kind: RecordOperation.Kind, _ name: String, tag: String? = nil, n: Int64 = 1,
      zone: ZoneID = .default
    ) -> RecordOperation {
      RecordOperation(
        kind: kind, recordID: RecordID(recordName: name, zoneID: zone), recordType: "Note",
        recordChangeTag: tag, fields: ["n": .int64(n)])
    }

    @Test(
      "are carried out once, and answered again with the records as they are", arguments: engines)
    func once(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let tag = try await test.save("changed", ["n": .int64(0)]).recordChangeTag
        try await test.save("gone", ["n": .int64(0)])
        try await test.watch()
        let changes = try await test.outbox().count
        let operations = [
          operation(.create, "new"), operation(.update, "changed", tag: tag),
          operation(.delete, "gone", tag: try await test.record("gone")?.recordChangeTag),
        ]
        let first = try await test.modify(operations, requestID: "r")
        #expect(first.map(\.summary) == ["saved", "saved", "deleted"])
        #expect(try await test.modify(operations, requestID: "r") == first)
        #expect(try await test.outbox().count == changes + 3)
        try await test.save("new", ["n": .int64(7)])
        let later = try await test.modify(operations, requestID: "r")
        #expect(later[0].record?.fields["n"] == .int64(7))
        #expect(try await test.record("new")?.fields["n"] == .int64(7))
      }
    }

    @Test("try again what failed, and only that", arguments: engines)
    func rest(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save("taken", [:])
        let operations = [operation(.create, "taken"), operation(.create, "free")]
        let first = try await test.modify(operations, requestID: "r")
        #expect(first.map(\.summary) == ["exists", "saved"])
        _ = try await test.modify([operation(.forceDelete, "taken")])
        let second = try await test.modify(operations, requestID: "r")
        #expect(second.map(\.summary) == ["saved", "saved"])
        #expect(second[1] == first[1])
        #expect(try await test.modify(operations, requestID: "r") == second)
      }
    }

    @Test("were not carried out when their zone's changes were undone", arguments: engines)
    func atomic(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("Notes")
        try await test.save("taken", [:], zone: zone, in: test.privateID)
        let operations = [
          operation(.create, "free", zone: zone), operation(.create, "taken", zone: zone),
        ]
        for _ in 0..<2 {
          let outcomes = try await test.modify(
            operations, in: test.privateID, atomic: true, requestID: "r")
          #expect(outcomes.map(\.summary) == ["atomic", "exists"])
        }
        #expect(try await test.record("free", zone: zone, in: test.privateID) == nil)
      }
    }

    @Test("that made a record which is gone by now say so", arguments: engines)
    func goneSince(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.modify([operation(.create, "a")], requestID: "r")
        _ = try await test.modify([operation(.forceDelete, "a")])
        let again = try await test.modify([operation(.create, "a")], requestID: "r")
        #expect(again.map(\.summary) == ["notFound"])
        #expect(try await test.record("a") == nil)
      }
    }

    @Test("are another user's own, and another database's", arguments: engines)
    func owners(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.modify([operation(.create, "a")], requestID: "r")
        let other = try await test.modify(
          [operation(.create, "a")], by: TestStore.bob, requestID: "r")
        #expect(other.map(\.summary) == ["exists"])
        let elsewhere = try await test.modify(
          [operation(.create, "a")], in: test.privateID, requestID: "r")
        #expect(elsewhere.map(\.summary) == ["saved"])
      }
    }

    @Test("with another number of operations are refused, naming both numbers", arguments: engines)
    func otherContent(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.modify([operation(.create, "a")], requestID: "r")
        let outcomes = try await test.modify(
          [operation(.create, "b"), operation(.create, "c")], requestID: "r")
        #expect(outcomes.map(\.summary) == ["invalid", "invalid"])
        #expect(outcomes[0].failure?.reason.contains("1 operations; this one has 2") == true)
      }
    }

    @Test("are forgotten after eight days", arguments: engines)
    func forgotten(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let day: Int64 = 24 * 60 * 60
        _ = try await test.modify([operation(.create, "a")], requestID: "r")
        try await test.store.maintenance.trim(at: TestStore.time(7 * day))
        let kept = try await test.modify([operation(.create, "a")], requestID: "r")
        #expect(kept.map(\.summary) == ["saved"])
        try await test.store.maintenance.trim(at: TestStore.time(9 * day))
        let forgotten = try await test.modify([operation(.create, "a")], requestID: "r")
        #expect(forgotten.map(\.summary) == ["exists"])
      }
    }
  }
}
