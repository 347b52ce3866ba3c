import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

struct ImportStartTests {
  private static let container = TestStore.container

  private static let field = ContainerSchema.Field(.init(.string), indexes: [.queryable])

  private static func schema(_ fields: [String]) -> ContainerSchema {
    ContainerSchema(
      recordTypes: [
        "Note": .init(
          fields: Dictionary(uniqueKeysWithValues: fields.map { ($0, field) }),
          systemIndexes: SystemField.implicitIndexes)
      ])
  }

  /// The reason why a change is refused after the start; nil if it is not refused.
  private static func refusal(
    of change: SchemaChange, since start: ImportStart, in store: Store
  ) async throws -> String? {
    do {
      try await store.transactions.read {
        try SchemaComparison(transaction: $0).refuseLosses(
          of: [change], inRecordsSavedSince: start, in: container)
      }
      return nil
    } catch let error as StoreError where error.code == .overloaded {
      return error.reason
    }
  }

  @Test(
    "finds what was saved since, in zones and databases old and new, and nothing else",
    arguments: StoreEngine.allCases)
  func laterSaves(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let store = test.store
      let text = RecordValue.string("a")
      let zone = try await test.makeZone("Z")
      try await test.save("before", ["title": text, "extra": text])
      try await test.save("before", ["title": text], zone: zone, in: test.privateID)
      func start() async throws -> ImportStart {
        try await store.transactions.read {
          try ImportStart(of: Self.container, transaction: $0)
        }
      }
      let changes: [SchemaChange] = [
        .removeField("extra", of: "Note", Self.field),
        .changeField("extra", of: "Note", from: Self.field, to: .init(.init(.int64))),
      ]
      var then = try await start()
      func expect(_ name: String?, _ place: String) async throws {
        for change in changes {
          let reason = try await Self.refusal(of: change, since: then, in: store)
          #expect((reason != nil) == (name != nil), "\(place)")
          if let name {
            #expect(
              reason?.contains("record '\(name)' of type 'Note' was saved with a value in field")
                == true, "\(place): \(reason ?? "")")
          }
        }
      }
      try await expect(nil, "nothing was saved")
      try await test.save("without", ["title": text])
      try await test.save("other", type: "Task", ["extra": text])
      try await expect(nil, "saved without the field, or of another type")
      #expect(
        try await Self.refusal(of: .removeRecordType("Note"), since: then, in: store)
          == "record 'without' of type 'Note' was saved meanwhile; try again")
      try await test.save("old", ["extra": text])
      try await expect("old", "the default zone")
      then = try await start()
      try await expect(nil, "a later start")
      try await test.save("inZone", ["extra": text], zone: zone, in: test.privateID)
      try await expect("inZone", "a zone")
      then = try await start()
      let newZone = try await test.makeZone("Y")
      try await test.save("inNewZone", ["extra": text], zone: newZone, in: test.privateID)
      try await expect("inNewZone", "a new zone")
      then = try await start()
      let database = try await test.store.databases.database(
        at: TestStore.address(.private, owner: TestStore.bob))
      try await test.save("inNewDatabase", ["extra": text], in: database)
      try await expect("inNewDatabase", "a new database")
      then = try await start()
      // More than one page of records.
      for page in 0..<2 {
        let operations = (0..<300).map { number in
          RecordOperation(
            kind: .forceUpdate, recordID: RecordID(recordName: "r\(page)-\(number)"),
            recordType: "Note", fields: ["title": text])
        }
        _ = try await test.modify(operations, in: test.publicID)
      }
      try await test.save("last", ["extra": text])
      try await expect("last", "the second page")
    }
  }

  @Test(
    "whatever is saved during imports, no record has a value in a field that was removed",
    arguments: Seeds.some(1))
  func load(seed: Int) async throws {
    try await ServerGroup.with(servers: 2) { group in
      let isOver = Flag()
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for worker in 0..<2 {
          tasks.addTask {
            let server = group.servers[1]
            var generator = SeededGenerator(seed: seed * 10 + worker)
            while !isOver.isUp, !Task.isCancelled {
              let value: RecordValue? = generator.chance(1, in: 2) ? .string("a") : nil
              var fields: RecordFields<RecordValue?> = ["title": .string("b")]
              fields["extra"] = .some(value)
              let operation = RecordOperation(
                kind: .forceUpdate, recordID: RecordID(recordName: "r\(worker)"),
                recordType: "Note", fields: fields)
              _ = try await server.modify([operation], in: server.publicID)
            }
          }
        }
        let store = group.store(0)
        var removals = 0
        for _ in 0..<150 {
          do {
            let outcome = try await store.schemas.importSchema(
              Self.schema(["title"]), of: Self.container, isDryRun: false)
            if outcome.refusals.isEmpty, outcome.changes.contains(where: { $0.removed != nil }) {
              removals += 1
            }
          } catch let error as StoreError where error.code == .overloaded {
            continue
          }
          let strays = try await Self.strays(in: store)
          #expect(strays.isEmpty, "seed \(seed), after \(removals) removals: \(strays)")
        }
        isOver.raise()
        try await tasks.waitForAll()
        #expect(removals > 0)
      }
    }
  }

  /// The development records with a value in field `extra`, if the schema lacks that field.
  private static func strays(in store: Store) async throws -> [String] {
    try await store.transactions.read { transaction in
      let schema = try RecordTypeTable(transaction: transaction).schema(
        of: container, in: .development)
      guard schema.recordTypes["Note"]?.fields["extra"] == nil,
        let scan = try SchemaComparison(transaction: transaction).scan(
          ofType: "Note", in: container)
      else { return [] }
      var strays: [String] = []
      var position: TypeScan.Position? = TypeScan.Position()
      while let start = position {
        let page = try scan.records(after: start, limit: 100)
        strays += page.records.filter { $0.record.fields["extra"] != nil }.map {
          $0.record.recordID.recordName
        }
        position = page.next
      }
      return strays
    }
  }
}
