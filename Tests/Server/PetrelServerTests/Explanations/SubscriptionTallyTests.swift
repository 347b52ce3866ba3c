import CloudKitModel
import Explanation
import PropertyTesting
import StoreModel
import Testing
import Waiting

@testable import PetrelServer

/// How a subscription fared with the changes of its database, against a plain count of them.
struct SubscriptionTallyTests {
  /// A save of a record, as the server is asked for it.
  private struct Save {
    var name: String
    var isCreation: Bool
    var type: String
    var title: String
    var price: Int

    var operation: String {
      Service.operation(
        isCreation ? "create" : "forceUpdate", name,
        """
        "title": {"value": "\(title)"}, "price": {"value": \(price), "type": "INT64"}
        """, type: type)
    }
    /// Whether the index comes to a subscription that asks for this title.
    var isNear: Bool { type == "Note" && title == "Milk" }
    var isFitting: Bool { isNear && isCreation && price < 5 }
  }

  private static func saves(seed: Int) -> [Save] {
    var generator = SeededGenerator(seed: seed)
    var names: [String: String] = [:]
    return (0..<40).map { number in
      let old = names.sorted { $0.key < $1.key }.randomElement(using: &generator)
      let isCreation = old == nil || Bool.random(using: &generator)
      let name = isCreation ? "n\(number)" : old?.key ?? ""
      let type = isCreation ? ["Note", "Task"].randomElement(using: &generator) ?? "" : old?.value
      names[name] = type
      return Save(
        name: name, isCreation: isCreation, type: type ?? "",
        title: ["Milk", "Bread", "milk"].randomElement(using: &generator) ?? "",
        price: Int.random(in: 0..<10, using: &generator))
    }
  }

  @Test(
    "what fitted, what was checked without a match and what each filter refused are exactly those",
    arguments: [1, 2, 3])
  func counts(seed: Int) async throws {
    try await withService { service in
      try await service.subscribe(
        """
        {"subscriptionID": "cheap", "subscriptionType": "query", "firesOn": ["create"],
         "zoneWide": true, "query": {"recordType": "Note", "filterBy": [
           {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "Milk"}},
           {"fieldName": "price", "comparator": "LESS_THAN",
            "fieldValue": {"value": 5, "type": "INT64"}}]}}
        """)
      let saves = Self.saves(seed: seed)
      for save in saves {
        let answer = try await service.modify(save.operation)
        try #require(answer.outcomes == ["ok"], "\(answer.json)")
      }
      try await eventually("all is dispatched") {
        service.server.dispatchMetrics.dispatchedChanges == saves.count
      }
      let database = try await service.store.databases.database(
        at: DatabaseAddress(
          container: Service.container, environment: .development, scope: .public, owner: nil))
      let name = SubscriptionName(subscriber: service.alice.recordName, subscriptionID: "cheap")
      // A change that fires nothing is kept with a later transaction.
      var latest: SubscriptionExplanation.Tally?
      try await eventually("all is kept") {
        latest = try await Explainer(store: service.store).explain(
          name, in: database
        ).tally
        return latest?.changes == saves.count
      }
      let tally = try #require(latest)
      let notes = saves.filter { $0.type == "Note" }
      #expect(tally.fitting == saves.count(where: \.isFitting))
      #expect(tally.checkedWithoutMatch == saves.count { $0.isNear && !$0.isFitting })
      #expect(tally.checkedWithoutMatch > 0, "the seed has none")
      let refusals = Dictionary(uniqueKeysWithValues: tally.refusals.map { ($0.key.key, $0.value) })
      #expect(
        refusals == [
          .field("title"): notes.count { $0.title != "Milk" },
          .field("price"): notes.count { $0.price >= 5 },
        ])
    }
  }
}
