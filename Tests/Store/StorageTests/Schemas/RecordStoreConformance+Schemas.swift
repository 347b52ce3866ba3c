import CloudKitModel
import Testing

extension RecordStoreConformance {
  struct Schemas {
    @Test(
      "development makes types and fields with what their types can use",
      arguments: StoreEngine.allCases)
    func implicitSchema(engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save(
          "n",
          [
            "title": .string("a"), "rank": .int64(1), "tags": .list(of: .string, [.string("b")]),
            "numbers": .list(of: .int64, [.int64(2)]), "data": .bytes(.init()),
            "place": .location(Location(latitude: 1, longitude: 2)),
          ])
        let schema = try await test.store.schemas.schema(of: TestStore.container, in: .development)
        let type = try #require(schema.recordTypes["Note"])
        #expect(
          type.fields == [
            "title": .init(.init(.string), indexes: [.queryable, .sortable, .searchable]),
            "rank": .init(.init(.int64), indexes: [.queryable, .sortable]),
            "tags": .init(.list(of: .string), indexes: [.queryable, .searchable]),
            "numbers": .init(.list(of: .int64), indexes: [.queryable]),
            "data": .init(.init(.bytes)), "place": .init(.init(.location), indexes: [.queryable]),
          ])
        #expect(type.grants == .standard)
        #expect(type.systemIndexes == SystemField.implicitIndexes)
        #expect(schema.roles.isEmpty)
        #expect(
          try await test.store.schemas.schema(of: TestStore.container, in: .production)
            == ContainerSchema())
      }
    }

    @Test(
      "everyone has the system's roles, and others only where the schema has them",
      arguments: StoreEngine.allCases)
    func roles(engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let container = TestStore.container
        let anonymous = try await store.schemas.roles(
          of: nil, container: container, environment: .development)
        #expect(anonymous == ["_world"])
        let signedIn = try await store.schemas.roles(
          of: TestStore.alice, container: container, environment: .development)
        #expect(signedIn == ["_world", "_icloud"])
        let refused = await storeError {
          try await store.schemas.setMembership(
            true, of: TestStore.alice, in: "Editor", container: container,
            environment: .development)
        }
        #expect(refused == .notFound)
      }
    }
  }
}
