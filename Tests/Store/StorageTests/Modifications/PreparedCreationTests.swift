import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import Storage

/// Each request goes to two stores: to one as requests do, with records prepared before the
/// transaction where they can be, and to one with nothing prepared.
struct PreparedCreationTests {
  private struct Pair {
    let prepared: TestStore
    let plain: TestStore

    /// Sends the operations to both stores, which must answer alike and hold the same.
    ///
    /// - Parameters:
    ///   - count: The records that are to be prepared.
    ///   - between: What is done to both stores after the preparation.
    /// - Returns: The outcomes' summaries.
    @discardableResult
    func send(
      _ operations: [RecordOperation], prepared count: Int,
      change: (inout RecordModification) -> Void = { _ in },
      between: (TestStore) async throws -> Void = { _ in },
      sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
      var told: [[RecordOutcome]] = []
      var states: [StoredState] = []
      for (index, test) in [prepared, plain].enumerated() {
        let store = test.store
        var modification = RecordModification(
          database: test.privateID, operations: operations, isAtomic: false,
          origin: ChangeOrigin(userRecordName: TestStore.alice, deviceID: nil),
          isByAdministrator: false, timestamp: TestStore.time(5))
        change(&modification)
        let ready = PreparedModification(
          modification, by: index == 0 ? store.transactions.writer.schemas : nil)
        if index == 0 {
          #expect(
            ready.creations.count { $0 != nil } == count, "prepared",
            sourceLocation: sourceLocation)
        }
        try await between(test)
        told.append(
          try await store.transactions.write { transaction in
            try RepeatableModification(prepared: ready, transaction: transaction).run()
              .recordOutcomes(
                for: ready.creations, in: ready.request.database,
                tags: transaction.context.changeTags
              )
          })
        let databases = try await store.transactions.read { transaction in
          try transaction.connection.rows("SELECT database_id FROM databases", []) {
            DatabaseID(rawValue: $0.integer(0))
          }
        }
        states.append(try await StoredState(of: store, databases: databases))
      }
      #expect(told[0].map(\.told) == told[1].map(\.told), sourceLocation: sourceLocation)
      #expect(states[0] == states[1], sourceLocation: sourceLocation)
      #expect(states[0].faults.isEmpty, sourceLocation: sourceLocation)
      return told[0].map(\.summary)
    }
  }

  private func withPair(_ body: (Pair) async throws -> Void) async throws {
    try await StoreEngine.sqliteFile.withStore { prepared in
      try await StoreEngine.sqliteInMemory.withStore { plain in
        for test in [prepared, plain] { try await test.watch() }
        try await body(Pair(prepared: prepared, plain: plain))
      }
    }
  }

  private func create(
    _ name: String, _ fields: RecordFields<RecordValue?> = ["text": .string("Deep sea")],
    type: String = "Note"
  ) -> RecordOperation {
    RecordOperation(
      kind: .create, recordID: RecordID(recordName: name), recordType: type, fields: fields)
  }

  @Test("need a type and fields that a commit has made known")
  func newTypesAndFields() async throws {
    try await withPair { pair in
      #expect(try await pair.send([create("a")], prepared: 0) == ["saved"])
      try await pair.send([create("b"), create("c", [:])], prepared: 2)
      try await pair.send([create("d", ["count": .int64(1)])], prepared: 0)
      try await pair.send([create("e", ["count": .int64(2)])], prepared: 1)
      try await pair.send([create("f", type: "Other"), create("g")], prepared: 1)
    }
  }

  @Test("are fitted to their fields' types")
  func fitted() async throws {
    try await withPair { pair in
      try await pair.send(
        [create("a", ["size": .double(1.5), "tags": .list(of: .string, [.string("a")])])],
        prepared: 0)
      let empty = RecordValue.list(of: .string, [])
      let outcomes = try await pair.send(
        [create("b", ["size": .int64(2)]), create("c", ["tags": empty])], prepared: 2)
      #expect(outcomes == ["saved", "saved"])
      #expect(
        try await pair.prepared.record("b", in: pair.prepared.privateID)?.fields["size"]
          == .double(2))
    }
  }

  @Test("are none when they cannot be saved: bad names, other types, too large")
  func refused() async throws {
    try await withPair { pair in
      try await pair.send([create("a")], prepared: 0)
      let long = String(repeating: "x", count: ServiceLimits.recordSize + 1)
      let outcomes = try await pair.send(
        [
          create("b", ["0 bad": .int64(1)]), create("c", ["text": .int64(1)]),
          create("d", ["text": .string(long)]), create(""), create("_e"), create("f"),
        ], prepared: 1)
      #expect(outcomes.last == "saved")
      #expect(outcomes.dropLast().allSatisfy { $0 != "saved" }, "\(outcomes)")
    }
  }

  @Test("leave to the transaction what must be looked at there")
  func lookedAt() async throws {
    try await withPair { pair in
      let reference = Reference(recordName: "a", action: .deleteSelf)
      var encrypted = create("e", ["secret": .string("s")])
      encrypted.encryptedFields = ["secret"]
      try await pair.send([create("a"), create("b", ["to": .reference(reference)])], prepared: 0)
      try await pair.send([create("c", ["to": .reference(reference)]), create("d")], prepared: 1)
      for _ in 0..<2 {
        #expect(try await pair.send([encrypted], prepared: 0).count == 1)
        encrypted.recordID.recordName = "f"
      }
      var child = create("g")
      child.parent = .some(Reference(recordName: "a"))
      try await pair.send([child], prepared: 0)
    }
  }

  @Test("do not write over a record, and forget its deletion")
  func names() async throws {
    try await withPair { pair in
      try await pair.send([create("a")], prepared: 0)
      let again = create("a", ["text": .string("other")])
      #expect(try await pair.send([again, create("b")], prepared: 2) == ["exists", "saved"])
      let gone = RecordOperation(kind: .forceDelete, recordID: RecordID(recordName: "a"))
      #expect(try await pair.send([gone], prepared: 0) == ["deleted"])
      #expect(try await pair.send([again], prepared: 1) == ["saved"])
    }
  }

  @Test("go by the schema that is fixed")
  func fixedSchema() async throws {
    try await withPair { pair in
      var production: [DatabaseID] = []
      for test in [pair.prepared, pair.plain] {
        try await test.save("a", ["text": .string("a")])
        _ = try await test.store.schemas.deploySchema(of: TestStore.container, isDryRun: false)
        var address = TestStore.address(.public)
        address.environment = .production
        production.append(try await test.store.databases.database(at: address))
      }
      #expect(Set(production).count == 1)
      func send(_ operation: RecordOperation, prepared: Int) async throws -> [String] {
        try await pair.send([operation], prepared: prepared) { $0.database = production[0] }
      }
      #expect(try await send(create("a"), prepared: 0) == ["saved"])
      #expect(try await send(create("b"), prepared: 1) == ["saved"])
      #expect(try await send(create("c", ["new": .int64(1)]), prepared: 0) == ["invalid"])
      #expect(try await send(create("d", type: "New"), prepared: 0) == ["invalid"])
    }
  }

  @Test("go by the schema of their transaction when it was changed meanwhile")
  func changedSchema() async throws {
    try await withPair { pair in
      try await pair.send([create("a")], prepared: 0)
      for (round, indexes) in ([[], [.searchable], [.queryable]] as [FieldIndexes]).enumerated() {
        try await pair.send([create("b\(round)")], prepared: 1) { _ in
        } between: { test in
          let schema = ContainerSchema(
            recordTypes: [
              "Note": .init(
                fields: ["text": .init(FieldType(.string), indexes: indexes)],
                systemIndexes: SystemField.implicitIndexes)
            ])
          let outcome = try await test.store.schemas.importSchema(
            schema, of: TestStore.container, isDryRun: false)
          #expect(outcome.refusals.isEmpty)
        }
        for test in [pair.prepared, pair.plain] {
          while try await test.store.maintenance.continueIndexWork() != nil {}
        }
        // Prepared by the schema from before the end of the work, then by that from after it.
        try await pair.send([create("c\(round)")], prepared: 1)
        try await pair.send([create("d\(round)")], prepared: 1)
        let state = try await StoredState(of: pair.prepared.store, databases: [])
        #expect(state.index == state.wantedIndex)
      }
    }
  }

  @Test("are saved within grants and quotas, and once under a request's ID")
  func limits() async throws {
    try await withPair { pair in
      try await pair.send([create("a")], prepared: 0)
      #expect(
        try await pair.send([create("b")], prepared: 1) { $0.quota = 10 } == ["quotaExceeded"])
      #expect(try await pair.send([create("b")], prepared: 1) { $0.quota = 1000 } == ["saved"])
      for _ in 0..<2 {
        let outcomes = try await pair.send([create("a"), create("c")], prepared: 2) {
          $0.requestID = "once"
        }
        #expect(outcomes == ["exists", "saved"])
      }
      func sendPublicly(_ name: String, prepared: Int) async throws -> [String] {
        try await pair.send([create(name)], prepared: prepared) {
          $0.database = pair.prepared.publicID
        }
      }
      #expect(try await sendPublicly("a", prepared: 0) == ["saved"])
      let grants = ContainerSchema(
        recordTypes: [
          "Note": .init(
            fields: ["text": .init(FieldType(.string), indexes: [.queryable, .searchable])],
            systemIndexes: SystemField.implicitIndexes, grants: RecordGrants(["_world": .read]))
        ])
      for test in [pair.prepared, pair.plain] {
        _ = try await test.store.schemas.importSchema(
          grants, of: TestStore.container, isDryRun: false)
      }
      #expect(try await sendPublicly("b", prepared: 1) == ["accessDenied"])
    }
  }
}
