import CloudKitModel
import Explanation
import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting

@testable import PetrelServer

/// Tests of the changes that are kept for explanations, and of explanations of many changes.
@Suite(.serialized)
struct ExplainedHistoryTests {
  @Test("changes of a record come newest first, those of others do not, and a limit holds")
  func changes() async throws {
    try await withService { service in
      try await service.watch()
      try await service.saveNote("A")
      try await service.saveNote("B")
      for text in ["one", "two"] { try await service.updateNote("A", text) }
      try await eventually("all is dispatched") {
        try await service.store.changeHistory.pastChanges(
          of: nil, in: service.publicDatabase(), before: nil, limit: 9
        )
        .count == 4
      }
      var limits = Explainer.Limits()
      let all = try await Explainer(store: service.store, limits: limits)
        .explain(RecordID(recordName: "A"), in: service.publicDatabase())
      #expect(
        all.changes.map { $0.change.record?.fields["title"] }
          == [.string("two"), .string("one"), .string("Milk")])
      #expect(!all.moreComing)
      limits.changes = 2
      let some = try await Explainer(store: service.store, limits: limits)
        .explain(RecordID(recordName: "A"), in: service.publicDatabase())
      #expect(some.changes.count == 2 && some.moreComing)
    }
  }

  @Test("the history of a database has no more changes than it may, the latest")
  func historyIsBounded() async throws {
    try await withService { service in
      try await service.restart { $0.changeHistory.changes = 5 }
      try await service.watch()
      func names() async throws -> [String?] {
        try await service.store.changeHistory.pastChanges(
          of: nil, in: service.publicDatabase(), before: nil, limit: 99
        )
        .map(\.recordName)
      }
      // What is dispatched together is dropped together, and can be a few more.
      func save(_ number: Int) async throws {
        try await service.saveNote("N\(number)")
        try await eventually("it is dispatched") { try await names().first == "N\(number)" }
      }
      for number in 1...13 { try await save(number) }
      #expect(try await names() == ["N13", "N12", "N11", "N10", "N9"])
      // Which slot is the oldest is known after a restart, too.
      try await service.restart { $0.changeHistory.changes = 5 }
      try await save(14)
      #expect(try await names() == ["N14", "N13", "N12", "N11", "N10"])
    }
  }

  @Test("a subscription's firings, and the changes checked without a match, are counted")
  func subscription() async throws {
    try await withService { service in
      try await service.watch(
        id: "cheap",
        filters: """
          {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "Milk"}},
          {"fieldName": "price", "comparator": "LESS_THAN",
           "fieldValue": {"value": 5, "type": "INT64"}}
          """)
      for (name, price) in [("A", 3), ("B", 7), ("C", 4)] {
        try await service.saveNote(name, #", "price": {"value": \#(price), "type": "INT64"}"#)
      }
      _ = try await service.explain("C") { !$0.notifications.isEmpty }
      let name = SubscriptionName(
        subscriber: service.alice.recordName, subscriptionID: "cheap")
      let explanation = try await Explainer(store: service.store).explain(
        name, in: service.publicDatabase())
      #expect(
        explanation.firings.map { $0.entry.notification.change.record?.recordID.recordName }
          == ["C", "A"])
      #expect(explanation.tally.changes == 3 && explanation.tally.fitting == 2)
      // The index looks where the title is Milk, and finds that the price is not right.
      #expect(explanation.tally.checkedWithoutMatch == 1)
      #expect(explanation.tally.refusals.map(\.value) == [1])
      #expect(explanation.tally.refusals.first?.key.key == .field("price"))
    }
  }

  @Test("a dry run tells who would fire and who would have fired, and keeps nothing")
  func dryRuns() async throws {
    try await withService { service in
      try await service.watch(id: "all")
      try await service.watch(id: "deleted", firesOn: ["delete"])
      for name in ["A", "B"] { try await service.saveNote(name) }
      _ = try await service.explain("B") { !$0.notifications.isEmpty }
      let explainer = Explainer(store: service.store)
      let record = Record(recordID: RecordID(recordName: "X"), recordType: "Note")
      let run = try await explainer.dryRun(
        Change(
          event: .recordCreated, zoneID: .default, record: record, notificationID: UUID(),
          timestamp: .now), in: service.publicDatabase())
      #expect(run.firing.map(\.subscriptionID) == ["all"])
      #expect(run.silent.map(\.subscriptionID) == ["deleted"])
      #expect(run.silent.first?.reasons.map(\.code) == [.event])
      let wanted = Subscription(
        subscriptionID: "new",
        kind: .query(
          Query(
            recordType: "Note",
            filters: [Filter(.system(.recordName), .equals, .string("A"))]), zoneID: nil,
          options: .events))
      let past = try await explainer.dryRun(
        wanted, of: service.alice.recordName, in: service.publicDatabase())
      #expect(past.fitting.map(\.recordName) == ["A"])
      #expect(past.tally.changes == 2)
      #expect(
        try await service.store.records.records([record.recordID], in: service.publicDatabase())
          == [nil])
    }
  }
}
