import CloudKitModel
import StoreModel
import Testing

@testable import Storage

struct CreatorIndexTests {
  private static let own = RecordGrants(["_creator": .read, "_icloud": .create])

  private static func schema(
    _ grants: RecordGrants, _ options: [SystemField: FieldIndexes] = [:]
  ) -> ContainerSchema {
    var options = options
    options[.recordName] = [.queryable]
    return ContainerSchema(
      recordTypes: ["Note": .init(systemIndexes: options, grants: grants)])
  }

  private static func use(
    _ schema: ContainerSchema, _ store: Store
  ) async throws {
    let outcome = try await store.schemas.importSchema(
      schema, of: TestStore.container, isDryRun: false)
    try #require(outcome.refusals.isEmpty)
    while try await store.maintenance.continueIndexWork() != nil {}
  }

  /// The numbers of entries for creators, and in all.
  private static func counts(_ store: Store) async throws -> [Int] {
    let entries = try await IndexWorkTests.entries(of: store)
    #expect(entries.found == entries.wanted)
    let fields = try await store.transactions.read { transaction in
      try transaction.connection.rows(
        "SELECT field_number FROM record_fields WHERE name = '___createdBy'", []
      ) { "\($0.integer(0))" }
    }
    let ofCreators = entries.found.filter { fields.contains("\($0.split(separator: " ")[1])") }
    return [ofCreators.count, entries.found.count]
  }

  private static func find(_ caller: String, _ test: TestStore) async throws -> [String] {
    try await test.store.records.records(
      matching: RecordQuery(
        query: Query(recordType: "Note"), zoneID: nil, limit: 10, caller: .user(named: caller)),
      in: test.publicID
    ).records.map(\.recordID.recordName)
  }

  private static func save(_ names: [String], _ test: TestStore) async throws {
    for name in names {
      try await test.save("\(name) of alice")
      try await test.save("\(name) of bob", by: TestStore.bob)
    }
  }

  @Test("it is built when such grants come, and removed when they go and no option asks for it")
  func grants() async throws {
    try await withTemporaryDirectory { directory in
      let store = try await Store.open(at: directory + "/a.sqlite")
      let test = try await TestStore(store)
      try await Self.use(Self.schema(.standard), store)
      try await Self.save(["a"], test)
      #expect(try await Self.counts(store) == [0, 2])
      try await Self.use(Self.schema(Self.own), store)
      #expect(try await Self.counts(store) == [2, 4])
      try await Self.save(["b"], test)
      #expect(try await Self.counts(store) == [4, 8])
      #expect(try await Self.find(TestStore.bob, test) == ["a of bob", "b of bob"])
      // It is no option of the schema for that.
      let query = RecordQuery(
        query: Query(
          recordType: "Note",
          filters: [Filter(.system(.createdUserRecordName), .equals, .string(TestStore.bob))]),
        zoneID: nil, limit: 10, caller: .user(userRecordName: TestStore.bob))
      let refusal = await #expect(throws: ItemFailure.self) {
        _ = try await store.records.records(matching: query, in: test.publicID)
      }
      #expect(refusal?.reason.contains("is not marked queryable") ?? false)
      let exported = try await store.schemas.schema(of: TestStore.container, in: .development)
      #expect(exported.recordTypes["Note"]?.systemIndexes == [.recordName: [.queryable]])

      try await Self.use(
        Self.schema(.standard, [.createdUserRecordName: [.sortable]]), store)
      #expect(try await Self.counts(store) == [4, 8])
      try await Self.use(Self.schema(.standard), store)
      #expect(try await Self.counts(store) == [0, 4])
      await store.close()
    }
  }
}
