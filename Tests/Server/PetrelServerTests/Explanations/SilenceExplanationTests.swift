import CloudKitModel
import Explanation
import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting

@testable import PetrelServer

/// Why a subscription did not fire, asked of a server where it did not.
@Suite(.serialized)
struct SilenceExplanationTests {
  @Test("each filter that says no is told with the value it saw, the first one first")
  func filters() async throws {
    try await withService { service in
      try await service.watch(
        id: "picky",
        filters: """
          {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "Bread"}},
          {"fieldName": "price", "comparator": "LESS_THAN",
           "fieldValue": {"value": 5, "type": "INT64"}},
          {"fieldName": "title", "comparator": "BEGINS_WITH", "fieldValue": {"value": "M"}}
          """)
      try await service.saveNote("A")
      let reasons = try await service.reasons(against: "picky", for: "A")
      #expect(reasons.map(\.code) == [.filter, .filter])
      #expect(reasons.first?.value == .string("Milk"))
      #expect(reasons.first?.text == "title == 'Bread' does not hold: it is 'Milk'")
      #expect(reasons.last?.filter?.key == .field("price") && reasons.last?.value == nil)
      #expect(reasons.last?.text.contains("has no such field") == true)
    }
  }

  @Test("type, event and zone that do not fit are told")
  func shape() async throws {
    try await withService { service in
      try await service.watch(id: "type", type: "Task")
      try await service.watch(id: "event", firesOn: ["update", "delete"])
      try await service.watch(id: "fits")
      try await service.saveNote("A")
      #expect(
        try await service.reasons(against: "type", for: "A").map(\.code) == [.recordType])
      let event = try await service.reasons(against: "event", for: "A")
      #expect(
        event.map(\.text) == [
          "the record was created, and the subscription fires on update and deletion"
        ])
      // Of all, those of other types are left out.
      let all = try await service.explain("A") { !$0.notifications.isEmpty }
      #expect(all.silent.map(\.subscriptionID) == ["event"])
    }
  }

  @Test("a subscription that fires once stays when nobody would be notified, and it says why")
  func once() async throws {
    try await withService { service in
      try await service.subscribe(
        """
        {"subscriptionID": "once", "subscriptionType": "query", "query": {"recordType": "Note"},
         "firesOn": ["create"], "firesOnce": true}
        """)
      try await service.watch(id: "all")
      try await service.saveNote("A")
      _ = try await service.explain("A") { !$0.notifications.isEmpty }
      #expect(try await service.reasons(against: "once", for: "A").map(\.code) == [.nothingOwed])
      let key = try await service.addAdminKey()
      let query =
        "container=\(Service.container)&environment=development&recordName=A&subscriber=alice"
      func cause() async throws -> String {
        let answer = try await service.adminGet(
          "explain/record?\(query)&subscriptionID=once", key: key)
        let silent = answer.json["changes"]?.array?.first?["silent"]?.array?.first
        return silent?["reasons"]?.array?.first?["text"]?.string ?? "\(answer.json)"
      }
      #expect(try await cause().contains("has no device, browser, webhook or web courier reader"))
      try await service.store.devices.saveDeviceToken(
        DeviceToken(
          kind: .apns, token: "aa", container: Service.container, environment: .development,
          apnsEnvironment: .development, userRecordName: service.alice.recordName,
          deviceID: "tablet", registered: .now))
      #expect(try await cause().contains("the configuration has no 'containers."))
      _ = try await service.makeReader(as: service.alice)
      try await service.saveNote("B")
      _ = try await service.explain("B") { $0.notifications.count == 2 }
    }
  }

  @Test("zone and database subscriptions tell of the default zone and of other zones")
  func zones() async throws {
    try await withService { service in
      for zone in ["Home", "Work"] { try await service.makeZone(zone) }
      try await service.subscribe(
        """
        {"subscriptionID": "home", "subscriptionType": "zone", "zoneID": {"zoneName": "Home"}}
        """, in: "private")
      try await service.subscribe(
        #"{"subscriptionID": "all", "subscriptionType": "database"}"#, in: "private")
      for zone in ["_defaultZone", "Work"] {
        let answer = try await service.modify(
          Service.operation("create", "R", zone: zone), in: "private", device: "phone")
        try #require(answer.status == 200, "\(answer.json)")
      }
      let database = try await service.privateDatabase()
      func codes(_ id: String, _ zone: ZoneID) async throws -> [SilenceReason.Code] {
        try await service.reasons(
          against: id, for: RecordID(recordName: "R", zoneID: zone), in: database
        ).map(\.code)
      }
      #expect(try await codes("home", .default) == [.defaultZone])
      #expect(try await codes("all", .default) == [.defaultZone])
      #expect(try await codes("home", ZoneID(zoneName: "Work")) == [.zone])
    }
  }

  @Test("a subscription that came, changed or went after the change is told so")
  func times() async throws {
    try await withService { service in
      try await service.watch(id: "first", type: "Task")
      try await service.watch(id: "gone", type: "Task")
      let answer = try await service.post(
        "public/subscriptions/modify",
        #"{"operations": [{"operationType": "delete", "subscription": {"subscriptionID": "gone"}}]}"#,
        as: service.alice)
      try #require(answer.status == 200, "\(answer.json)")
      try await service.saveNote("A")
      try await service.watch(id: "late")
      try await service.subscribe(
        """
        {"subscriptionID": "first", "subscriptionType": "query", "firesOn": ["delete"],
         "zoneWide": true, "query": {"recordType": "Note"}}
        """)
      #expect(
        try await service.reasons(against: "late", for: "A").map(\.code) == [.notYetSaved])
      #expect(
        try await service.reasons(against: "first", for: "A").map(\.code)
          == [.event, .changedSince])
      #expect(
        try await service.reasons(against: "gone", for: "A").map(\.code)
          == [.deletedSubscription])
      #expect(
        try await service.reasons(against: "never", for: "A").map(\.code)
          == [.unknownSubscription])
    }
  }

  @Test("a subscriber who may not read the record is told so")
  func permission() async throws {
    try await withService { service in
      try await service.grant(RecordGrants(["_creator": .read, "_icloud": .create]))
      try await service.subscribe(
        """
        {"subscriptionID": "bobs", "subscriptionType": "query", "firesOn": ["create"],
         "zoneWide": true, "query": {"recordType": "Note"}}
        """, as: service.bob)
      try await service.saveNote("A")
      let change = try await service.explain("A") { _ in true }
      #expect(change.notifications.isEmpty)
      #expect(change.silent.map(\.subscriber) == [service.bob.recordName])
      #expect(change.silent.first?.reasons.map(\.code) == [.permission])
    }
  }

  @Test("a change that is too large is kept without its values, and one of long ago not at all")
  func limits() async throws {
    try await withService { service in
      try await service.restart { $0.changeHistory.changeBytes = 1_000 }
      try await service.watch(id: "deletions", firesOn: ["delete"])
      try await service.watch(
        id: "picky",
        filters: """
          {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "Bread"}}
          """)
      try await service.watch(id: "all")
      try await service.updateNote("A", String(repeating: "x", count: 2_000))
      #expect(
        try await service.reasons(against: "deletions", for: "A").map(\.code) == [.event])
      #expect(
        try await service.reasons(against: "picky", for: "A").map(\.code) == [.valuesNotKept])
      let fired = try await service.explain("A") { !$0.notifications.isEmpty }
      #expect(
        fired.notifications.map(\.entry.notification.subscription.subscriptionID) == ["all"])
      #expect(!fired.hasFields)
      try await service.store.maintenance.trim(at: Timestamp.now.advanced(bySeconds: 8 * 86_400))
      let explanation = try await Explainer(store: service.store).explain(
        RecordID(recordName: "A"), in: service.publicDatabase())
      #expect(explanation.changes.isEmpty)
      #expect(explanation.remark?.contains("no change of it is kept") == true)
    }
  }
}
