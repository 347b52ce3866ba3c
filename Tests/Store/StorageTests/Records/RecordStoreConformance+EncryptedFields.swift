import CloudKitModel
import Foundation
import Storage
import StoreModel
import Testing

extension RecordStoreConformance {
  struct EncryptedFields {
    static let engines = StoreEngine.allCases

    private func save(
      _ name: String, _ fields: RecordFields<RecordValue?>, encrypted: Set<String>,
      kind: RecordOperation.Kind = .forceUpdate, in database: DatabaseID, of test: TestStore
    ) async throws -> RecordOutcome {
      var operation = RecordOperation(
        kind: kind, recordID: RecordID(recordName: name), recordType: "Note", fields: fields)
      operation.encryptedFields = encrypted
      return try await test.modify([operation], in: database)[0]
    }

    @Test("the mark is kept with the value, and goes with it", arguments: engines)
    func mark(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.watch()
        let saved = try await save(
          "n",
          ["open": .string("a"), "secret": .string("b"), "list": .list(of: .int64, [.int64(1)])],
          encrypted: ["secret", "list"], in: test.privateID, of: test)
        #expect(saved.record?.encryptedFields == ["secret", "list"])
        #expect(try await test.record("n", in: test.privateID) == saved.record)
        #expect(
          try await test.outbox(of: test.privateID).last?.change.record?.encryptedFields
            == ["secret", "list"])
        let removed = try await save(
          "n", ["list": nil], encrypted: [], in: test.privateID, of: test)
        #expect(removed.record?.encryptedFields == ["secret"])
        let replaced = try await save(
          "n", ["open": .string("c")], encrypted: [], kind: .forceReplace, in: test.privateID,
          of: test)
        #expect(replaced.record?.encryptedFields == [])
      }
    }

    @Test(
      "a date of an encrypted field stays exact; another one may not be finer than a millisecond",
      arguments: engines)
    func exactDates(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let date = Date(timeIntervalSinceReferenceDate: 785_000_000.123456)
        let whole = RecordValue.timestamp(Timestamp(milliseconds: 5))
        let fields: RecordFields<RecordValue?> = [
          "date": RecordValue(preciselyEncoding: date), "whole": whole,
          "list": .list(of: .timestamp, [whole, RecordValue(preciselyEncoding: date)]),
        ]
        let saved = try await save(
          "n", fields, encrypted: ["date", "whole", "list"], in: test.privateID, of: test)
        #expect(saved.failure == nil)
        let record = try #require(try await test.record("n", in: test.privateID))
        #expect(record.fields["whole"] == whole && record.fields["date"]?.isPrecise == true)
        for (name, value) in fields { #expect(record.fields[name] == value) }
        let refused = try await save(
          "m", ["open": RecordValue(preciselyEncoding: date)], encrypted: [], in: test.privateID,
          of: test)
        #expect(refused.failure?.code == .invalid && refused.failure?.field == "open")
      }
    }

    @Test("a field of a type is either encrypted or not", arguments: engines)
    func eitherOr(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await save(
          "n", ["open": .string("a"), "secret": .string("b")], encrypted: ["secret"],
          in: test.privateID, of: test)
        let cases: [(String, Set<String>, String)] = [
          ("secret", [], "'secret' of record type 'Note' is encrypted"),
          ("open", ["open"], "'open' of record type 'Note' is not encrypted"),
        ]
        for (field, encrypted, reason) in cases {
          let outcome = try await save(
            "m", [field: .string("x")], encrypted: encrypted, in: test.privateID, of: test)
          #expect(outcome.failure?.code == .invalid && outcome.failure?.field == field)
          #expect(outcome.failure?.reason.contains(reason) == true, "\(outcome)")
        }
      }
    }

    @Test("references, and fields of the public database, cannot be encrypted", arguments: engines)
    func refused(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let reference = try await save(
          "n", ["to": .reference(Reference(recordName: "m"))], encrypted: ["to"],
          in: test.privateID, of: test)
        #expect(reference.failure?.code == .invalid && reference.failure?.field == "to")
        let open = try await save(
          "n", ["secret": .string("b")], encrypted: ["secret"], in: test.publicID, of: test)
        #expect(open.failure?.reason.contains("public database") == true)
      }
    }

    @Test("nothing finds, sorts by or subscribes to an encrypted field", arguments: engines)
    func notSearchable(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await save(
          "n", ["open": .string("word"), "secret": .string("hidden")], encrypted: ["secret"],
          in: test.privateID, of: test)
        let filter = Filter(.field("secret"), .equals, .string("hidden"))
        for query in [
          Query(recordType: "Note", filters: [filter]),
          Query(recordType: "Note", sortKeys: [SortKey(.field("secret"))]),
        ] {
          let failure = await #expect(throws: ItemFailure.self) {
            _ = try await test.store.records.records(
              matching: RecordQuery(query: query, zoneID: nil, limit: 10), in: test.privateID)
          }
          #expect(failure?.field == "secret")
        }
        for word in ["hidden", "word"] {
          let all = Query(
            recordType: "Note",
            filters: [Filter(.allText, .containsAllTokens, .string(word))])
          let page = try await test.store.records.records(
            matching: RecordQuery(query: all, zoneID: nil, limit: 10), in: test.privateID)
          #expect(page.records.count == (word == "word" ? 1 : 0))
        }
        for subscription in [
          noteSubscription("s", filters: [filter]),
          noteSubscription("s", desiredKeys: ["secret"]),
        ] {
          let outcome = try await test.subscribe(subscription, in: test.privateID)
          #expect(outcome.failure?.reason.contains("'secret'") == true, "\(outcome)")
        }
      }
    }
  }
}
