import CloudKitModel
import Foundation
import PropertyTesting
import Storage
import StoreModel
import Testing

extension RecordStoreConformance {
  struct SchemaImports {
    private static let container = TestStore.container

    private func schema(
      _ fields: [String: ContainerSchema.Field], roles: Set<String> = [],
      system: [SystemField: FieldIndexes] = SystemField.implicitIndexes,
      grants: RecordGrants = .standard
    ) -> ContainerSchema {
      ContainerSchema(
        roles: roles,
        recordTypes: ["Note": .init(fields: fields, systemIndexes: system, grants: grants)])
    }

    @Test("an import makes development what the schema says", arguments: StoreEngine.allCases)
    func roundTrip(engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        var generator = SeededGenerator(seed: 7)
        for round in 0..<30 {
          var wanted = ContainerSchema(
            roles: Set(["A", "B b"].filter { _ in Bool.random(using: &generator) }))
          for name in ["Note", "Task", "Users"] where generator.chance(2, in: 3) {
            var type = ContainerSchema.RecordType()
            for field in ["a", "b", "c"] where generator.chance(2, in: 3) {
              let fieldType = FieldType(
                generator.pick(ValueType.allCases), isList: generator.chance(1, in: 3))
              type.fields[field] = .init(
                fieldType,
                indexes: FieldIndexes(rawValue: UInt8.random(in: 0...7, using: &generator))
                  .intersection(.allowed(for: fieldType)))
            }
            for field in SystemField.inSchema where generator.chance(1, in: 3) {
              type.systemIndexes[field] = [.queryable]
            }
            type.grants = RecordGrants(["_world": generator.pick([.read, .all])])
            wanted.recordTypes[name] = type
          }
          let before = try await store.schemas.schema(of: Self.container, in: .development)
          let trial = try await store.schemas.importSchema(
            wanted, of: Self.container, isDryRun: true)
          #expect(try await store.schemas.schema(of: Self.container, in: .development) == before)
          let outcome = try await store.schemas.importSchema(
            wanted, of: Self.container, isDryRun: false)
          #expect(outcome == trial)
          while try await store.maintenance.continueIndexWork() != nil {}
          if wanted.recordTypes["Users"] == nil {
            wanted.recordTypes["Users"] = before.recordTypes["Users"]
          }
          #expect(
            try await store.schemas.schema(of: Self.container, in: .development) == wanted,
            "round \(round): \(outcome)")
        }
      }
    }

    @Test("what would lose data is refused by name, and nothing is changed")
    func losses() async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let store = test.store
        try await test.save(
          "n", ["title": .string("a"), "tags": .list(of: .string, [.string("a")])])
        try await test.save("t", type: "Task", ["done": .int64(0)])
        let before = try await store.schemas.schema(of: Self.container, in: .development)
        func refusals(_ schema: ContainerSchema) async throws -> [String] {
          try await store.schemas.importSchema(schema, of: Self.container, isDryRun: false).refusals
            .map(\.reason)
        }
        let reasons = try await refusals(
          ContainerSchema(
            roles: ["New"], recordTypes: ["Note": .init(fields: ["title": .init(.init(.int64))])]))
        #expect(reasons.count == 3)
        #expect(reasons.contains { $0.contains("in field 'tags'") })
        #expect(reasons.contains { $0.contains("in field 'title'") })
        #expect(reasons.contains { $0.contains("records of type 'Task'") })
        #expect(try await store.schemas.schema(of: Self.container, in: .development) == before)
        // Deployed, and then without data: still in production.
        _ = try await store.schemas.deploySchema(of: Self.container, isDryRun: false)
        _ = try await test.delete("n")
        _ = try await test.delete("t")
        let deployed = try await refusals(ContainerSchema())
        #expect(
          deployed == [
            "record type 'Note' is in the production schema",
            "record type 'Task' is in the production schema",
          ])
      }
    }

    @Test("a type that is dropped and made again keeps its deletions readable")
    func droppedType() async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let store = test.store
        let zone = try await test.makeZone("Z")
        try await test.save("n", ["a": .int64(1)], zone: zone, in: test.privateID)
        let feed = RecordChangesQuery(zoneID: zone, token: nil, limit: 10)
        let token = try await store.changeFeeds.recordChanges(matching: feed, in: test.privateID)
          .token
        _ = try await test.delete("n", zone: zone, in: test.privateID)
        let outcome = try await store.schemas.importSchema(
          ContainerSchema(), of: Self.container, isDryRun: false)
        #expect(outcome.changes == [.removeRecordType("Note")])
        #expect(outcome.refusals.isEmpty)
        var rest = feed
        rest.token = token
        let page = try await store.changeFeeds.recordChanges(matching: rest, in: test.privateID)
        #expect(page.changes.count == 1)
        // Another type of the field is free now.
        try await test.save("n", ["a": .string("b")], zone: zone, in: test.privateID)
        #expect(
          try await store.schemas.schema(of: Self.container, in: .development)
            .recordTypes["Note"]?.fields["a"]?.type == FieldType(.string))
      }
    }

    @Test("a filter, a sort or a search needs the field's option")
    func options() async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let fields: [String: ContainerSchema.Field] = [
          "q": .init(.init(.string), indexes: [.queryable]),
          "s": .init(.init(.int64), indexes: [.sortable]),
          "t": .init(.init(.string), indexes: [.searchable]),
          "n": .init(.init(.int64)),
        ]
        _ = try await test.store.schemas.importSchema(
          schema(fields, system: [.modifiedTimestamp: [.sortable]]), of: Self.container,
          isDryRun: false)
        try await test.save(
          "r", ["q": .string("a"), "s": .int64(1), "t": .string("word"), "n": .int64(2)])
        let q = Filter(.field("q"), .equals, .string("a"))
        let cases: [(Query, String?)] = [
          (Query(recordType: "Note", filters: [q]), nil),
          (
            Query(recordType: "Note", filters: [Filter(.field("q"), .greaterThan, .string(""))]),
            nil
          ),
          (
            Query(recordType: "Note", filters: [Filter(.field("s"), .greaterThan, .int64(0))]), nil
          ),
          (
            Query(recordType: "Note", filters: [Filter(.field("s"), .equals, .int64(1))]),
            "Field 's' is not marked queryable"
          ),
          (
            Query(recordType: "Note", filters: [Filter(.field("n"), .lessThan, .int64(3))]),
            "Field 'n' is not marked queryable"
          ),
          (
            Query(recordType: "Note", filters: [Filter(.field("n"), .notEquals, nil)]),
            "Field 'n' is not marked queryable"
          ),
          (
            Query(
              recordType: "Note",
              filters: [Filter(.field("t"), .containsAllTokens, .string("word"))]), nil
          ),
          (
            Query(
              recordType: "Note",
              filters: [Filter(.field("q"), .containsAllTokens, .string("a"))]),
            "Field 'q' is not marked searchable"
          ),
          (
            Query(
              recordType: "Note", filters: [Filter(.allText, .containsAllTokens, .string("word"))]),
            nil
          ),
          (
            Query(recordType: "Note", filters: [q], sortKeys: [SortKey(.field("s"))]), nil
          ),
          (
            Query(recordType: "Note", filters: [q], sortKeys: [SortKey(.field("q"))]),
            "Field 'q' is not marked sortable"
          ),
          (
            Query(
              recordType: "Note", filters: [q], sortKeys: [SortKey(.system(.modifiedTimestamp))]),
            nil
          ),
          (
            Query(
              recordType: "Note", filters: [q], sortKeys: [SortKey(.system(.createdTimestamp))]),
            "Field 'createdTimestamp' is not marked sortable"
          ),
          (Query(recordType: "Note"), "Field 'recordName' is not marked queryable"),
        ]
        for (query, expected) in cases {
          do {
            let page = try await test.store.records.records(
              matching: RecordQuery(query: query, zoneID: .default, limit: 10), in: test.publicID)
            #expect(expected == nil, "\(query)")
            #expect(page.records.count == 1, "\(query)")
          } catch let failure as ItemFailure {
            #expect(failure.code == .invalid)
            #expect(expected.map { failure.reason.hasPrefix($0) } == true, "\(query): \(failure)")
          }
        }
        let subscription = try await test.subscribe(
          noteSubscription("x", filters: [Filter(.field("n"), .equals, .int64(2))]))
        #expect(subscription.failure?.reason.hasPrefix("Field 'n' is not marked queryable") == true)
      }
    }

    @Test("grants and roles come with the schema, and members go with their role")
    func roles() async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let store = test.store
        let grants = RecordGrants(["Editor": .all, "_world": .read])
        _ = try await store.schemas.importSchema(
          schema([:], roles: ["Editor"], grants: grants), of: Self.container, isDryRun: false)
        try await store.schemas.setMembership(
          true, of: TestStore.bob, in: "Editor", container: Self.container,
          environment: .development)
        let roles = try await store.schemas.roles(
          of: TestStore.bob, container: Self.container, environment: .development)
        #expect(roles == ["_world", "_icloud", "Editor"])
        #expect(grants.permissions(of: roles) == .all)
        #expect(
          try await store.schemas.members(
            of: "Editor", container: Self.container, environment: .development)
            == [TestStore.bob])
        let production = try await store.schemas.roles(
          of: TestStore.bob, container: Self.container, environment: .production)
        #expect(production == ["_world", "_icloud"])
        _ = try await store.schemas.importSchema(schema([:]), of: Self.container, isDryRun: false)
        let without = try await store.schemas.roles(
          of: TestStore.bob, container: Self.container, environment: .development)
        #expect(without == ["_world", "_icloud"])
      }
    }
  }
}
