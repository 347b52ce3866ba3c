import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct FixedSchemas {
    private func production(_ test: TestStore) async throws -> DatabaseID {
      var address = TestStore.address(.public)
      address.environment = .production
      return try await test.store.databases.database(at: address)
    }

    private func save(
      _ name: String, _ fields: RecordFields<RecordValue?> = [:], type: String = "Note",
      in database: DatabaseID, _ test: TestStore
    ) async throws -> ItemFailure? {
      try await test.modify(
        [
          RecordOperation(
            kind: .forceUpdate, recordID: RecordID(recordName: name), recordType: type,
            fields: fields)
        ], in: database)[0].failure
    }

    @Test("production refuses what was not deployed, naming it and the command")
    func records() async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let production = try await production(test)
        let unknown = try await save("n", ["title": .string("a")], in: production, test)
        #expect(
          unknown?.reason.hasPrefix(
            "record type 'Note' is not in the production schema of \(TestStore.container)") == true)
        #expect(
          unknown?.reason.hasSuffix("run: petrel schema deploy --container \(TestStore.container)")
            == true)
        #expect(unknown?.code == .invalid)
        #expect(unknown?.field == "recordType")
        try await test.save("n", ["title": .string("a")])
        let deployed = try await test.store.schemas.deploySchema(
          of: TestStore.container, isDryRun: false)
        #expect(deployed.refusals.isEmpty)
        #expect(try await save("n", ["title": .string("b")], in: production, test) == nil)
        let field = try await save(
          "n", ["title": .string("b"), "rank": .int64(1)], in: production, test)
        #expect(field?.field == "rank")
        #expect(field?.reason.contains("field 'rank' of record type 'Note'") == true)
        #expect(
          field?.reason.contains("petrel schema deploy --container \(TestStore.container)") == true)
        #expect(
          try await test.store.schemas.schema(of: TestStore.container, in: .production)
            == test.store.schemas.schema(of: TestStore.container, in: .development))
        // The users' own records need no deploy; their fields do.
        #expect(try await save("u", type: "Users", in: production, test) == nil)
        #expect(
          try await save("u", ["x": .int64(1)], type: "Users", in: production, test)?.field == "x")
      }
    }

    @Test("an open production makes types as development does")
    func open() async throws {
      try await StoreEngine.sqliteInMemory.withStore(
        configure: { $0.fixedEnvironments = [] },
        { test in
          let production = try await production(test)
          #expect(try await save("n", ["a": .int64(1)], in: production, test) == nil)
        })
    }

    @Test("production refuses a subscription whose type was not deployed from development")
    func subscriptions() async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let production = try await production(test)
        let store = test.store
        try await test.save("n", ["title": .string("a"), "rank": .int64(1)])
        let title = Filter(.field("title"), .equals, .string("a"))
        let rank = Filter(.field("rank"), .greaterThan, .int64(1))
        func subscribe(
          _ filters: [Filter], _ options: Subscription.Options = .events,
          in database: DatabaseID? = nil
        ) async throws -> ItemFailure? {
          try await test.subscribe(
            noteSubscription("s", filters: filters, options: options), in: database
          ).failure
        }
        let undeployed = try await subscribe([title], in: production)
        #expect(undeployed?.reason.contains("record type 'Note' is not in the production") == true)
        _ = try await store.schemas.deploySchema(of: TestStore.container, isDryRun: false)
        let untyped = try await subscribe([title], in: production)
        #expect(
          untyped?.reason.contains(
            "the subscription type 'create, update, delete of Note by title' is not in the "
              + "production schema") == true)
        #expect(
          untyped?.reason.contains("petrel schema deploy --container \(TestStore.container)")
            == true)
        #expect(try await subscribe([title]) == nil)
        #expect(try await subscribe([title], in: production) != nil)
        let outcome = try await store.schemas.deploySchema(of: TestStore.container, isDryRun: false)
        let type = SubscriptionType.query(
          .init(recordType: "Note", events: .events, fields: ["title"]))
        #expect(outcome.changes == [.addSubscriptionType(type)])
        #expect(try await subscribe([title], in: production) == nil)
        // Other values and flags are the same type; other events and fields are not.
        let other = Filter(.field("title"), .equals, .string("b"))
        let once: Subscription.Options = [.events, .firesOnce]
        #expect(try await subscribe([other], once, in: production) == nil)
        #expect(try await subscribe([title], .firesOnRecordCreation, in: production) != nil)
        #expect(try await subscribe([title, rank], in: production) != nil)
        #expect(try await subscribe([], in: production) != nil)
        #expect(
          try await store.schemas.subscriptionTypes(of: TestStore.container, in: .production) == [
            type
          ])
      }
    }

    @Test(
      "production refuses a subscription to a zone or a database until one of development was deployed",
      arguments: [
        (
          Subscription.Kind.recordZone(ZoneID(zoneName: "Z"), recordType: nil),
          Subscription.Kind.recordZone(ZoneID(zoneName: "Other"), recordType: "Note"),
          SubscriptionType.recordZone, "all changes of a zone"
        ),
        (
          .database(recordType: nil), .database(recordType: "Note"), .database,
          "all changes of a database"
        ),
      ])
    func subscriptionsWithoutQuery(
      kind: Subscription.Kind, another: Subscription.Kind, type: SubscriptionType, text: String
    ) async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let store = test.store
        func database(_ environment: ContainerEnvironment) async throws -> DatabaseID {
          var address = TestStore.address(.private, owner: TestStore.alice)
          address.environment = environment
          let database = try await store.databases.database(at: address)
          _ = try await store.zones.modifyZones(
            ["Z", "Other"].map { .create(ZoneID(zoneName: $0)) }, in: database,
            origin: ChangeOrigin(userRecordName: TestStore.alice), timestamp: TestStore.time(0))
          return database
        }
        let development = try await database(.development)
        let production = try await database(.production)
        func subscribe(_ kind: Subscription.Kind, in database: DatabaseID) async throws
          -> ItemFailure?
        {
          try await test.subscribe(Subscription(subscriptionID: "s", kind: kind), in: database)
            .failure
        }
        let refusal = try #require(try await subscribe(kind, in: production))
        #expect(refusal.code == .invalid && refusal.field == "subscriptionType")
        #expect(
          refusal.reason.contains("the subscription type '\(text)' is not in the production schema")
        )
        #expect(refusal.reason.contains("petrel schema deploy --container \(TestStore.container)"))

        #expect(try await subscribe(kind, in: development) == nil)
        #expect(try await subscribe(kind, in: production) != nil)
        let outcome = try await store.schemas.deploySchema(of: TestStore.container, isDryRun: false)
        #expect(outcome.changes == [.addSubscriptionType(type)])
        #expect(try await subscribe(kind, in: production) == nil)
        #expect(try await subscribe(another, in: production) == nil)
        #expect(
          try await store.schemas.subscriptionTypes(of: TestStore.container, in: .production) == [
            type
          ])
        #expect(
          try await store.schemas.deploySchema(of: TestStore.container, isDryRun: false).changes
            == [])
      }
    }

    @Test("a deploy adds, never drops, and refuses another type of a field")
    func deploy() async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let store = test.store
        let container = TestStore.container
        try await test.save("n", ["title": .string("a")])
        let trial = try await store.schemas.deploySchema(of: container, isDryRun: true)
        #expect(trial.changes.count == 1)
        #expect(try await store.schemas.schema(of: container, in: .production) == ContainerSchema())
        _ = try await store.schemas.deploySchema(of: container, isDryRun: false)
        let again = try await store.schemas.deploySchema(of: container, isDryRun: false)
        #expect(again == SchemaOutcome(changes: [], refusals: []))
        // Development loses the field by hand, as after a reset, and gets it back with another type.
        _ = try await test.delete("n")
        try await store.transactions.write { transaction in
          let field = ContainerSchema.Field(.init(.string))
          try SchemaModifier(
            transaction: transaction, container: container, environment: .development
          )
          .apply([
            .removeField("title", of: "Note", field),
            .addField("rank", of: "Note", .init(.init(.int64))),
          ])
        }
        let merged = try await store.schemas.deploySchema(of: container, isDryRun: false)
        #expect(merged.changes == [.addField("rank", of: "Note", .init(.init(.int64)))])
        let production = try await store.schemas.schema(of: container, in: .production)
        #expect(production.recordTypes["Note"]?.fields.keys.sorted() == ["rank", "title"])
        try await test.save("n", ["title": .int64(1), "more": .int64(1)])
        let refused = try await store.schemas.deploySchema(of: container, isDryRun: false)
        #expect(refused.refusals.count == 1)
        #expect(refused.refusals[0].reason.contains("field 'title' of record type 'Note'"))
        #expect(try await store.schemas.schema(of: container, in: .production) == production)
      }
    }

    @Test("a search in production for what the schema lacks is refused")
    func queries() async throws {
      try await StoreEngine.sqliteFile.withStore { test in
        let production = try await production(test)
        func failure(_ query: Query) async throws -> ItemFailure? {
          do {
            _ = try await test.store.records.records(
              matching: RecordQuery(query: query, zoneID: .default, limit: 10), in: production)
            return nil
          } catch let failure as ItemFailure {
            return failure
          }
        }
        let unknownType = try await failure(Query(recordType: "Note"))
        #expect(unknownType?.code == .notFound && unknownType?.field == "recordType")
        #expect(
          unknownType?.reason
            == "Did not find record type: Note. It is not in the production schema of "
            + "\(TestStore.container); create it in development and run: petrel schema deploy --container "
            + TestStore.container)
        try await test.save("n", ["title": .string("a")])
        _ = try await test.store.schemas.deploySchema(of: TestStore.container, isDryRun: false)
        #expect(try await failure(Query(recordType: "Note")) == nil)
        let unknown = Filter(.field("rank"), .equals, .int64(1))
        #expect(
          try await failure(Query(recordType: "Note", filters: [unknown]))?.field == "rank")
      }
    }
  }
}
