import CloudKitModel
import Explanation
import Foundation
import JSONCoding
import Storage
import Testing
import Waiting
import WebPushSimulation

@testable import PetrelServer

/// Why a push came or did not, asked of a server that did it.
@Suite("Explanations", .serialized)
struct ExplanationTests {
  // MARK: What fired

  @Test("the time line of a change goes from its commit to each device's answer")
  func timeLine() async throws {
    try await withPushService { service, push in
      let browser = try push.subscribe()
      try await service.register(browser, device: "tab")
      try await subscribe(service)
      try await save("A", at: service)
      let change = try await explain("A", at: service) { change in
        change.notifications.first?.deliveries.first?.delivery.state == .delivered
      }
      #expect(change.change?.event == .recordCreated)
      #expect(change.change?.deviceID == "phone")
      let committed = try #require(change.change?.timestamp)
      let matched = try #require(change.dispatched)
      let notification = try #require(change.notifications.first)
      #expect(committed <= matched && notification.entry.logged <= matched)
      #expect(notification.entry.notification.subscription.subscriptionID == "notes")
      let delivery = try #require(notification.deliveries.first?.delivery)
      #expect(delivery.kind == .webPush && delivery.attempts == 1)
      #expect(delivery.updated >= notification.entry.logged)
      #expect(notification.silentDevices.isEmpty && change.silent.isEmpty)
    }
  }

  @Test("changes of a record come newest first, those of others do not, and a limit holds")
  func changes() async throws {
    try await withService { service in
      try await subscribe(service)
      try await save("A", at: service)
      try await save("B", at: service)
      for text in ["one", "two"] { try await update("A", text, at: service) }
      try await eventually("all is dispatched") {
        try await service.store.pastChanges(of: nil, in: database(service), before: nil, limit: 9)
          .count == 4
      }
      var limits = Explainer.Limits()
      let all = try await Explainer(store: service.store, limits: limits)
        .explain(RecordID(recordName: "A"), in: database(service))
      #expect(
        all.changes.map { $0.change?.record?.fields["title"] }
          == [.string("two"), .string("one"), .string("Milk")])
      #expect(!all.moreComing)
      limits.changes = 2
      let some = try await Explainer(store: service.store, limits: limits)
        .explain(RecordID(recordName: "A"), in: database(service))
      #expect(some.changes.count == 2 && some.moreComing)
    }
  }

  @Test("what a push service answered is told: a failure with its next try, a token that is gone")
  func answers() async throws {
    try await withPushService { service, push in
      let failing = try push.subscribe()
      let gone = try push.subscribe()
      try await service.register(failing, device: "failing")
      try await service.register(gone, device: "gone")
      push.script([.init(503, [("retry-after", "3600")])], for: failing)
      push.script([.init(410)], for: gone)
      try await subscribe(service)
      try await save("A", at: service)
      let change = try await explain("A", at: service) { change in
        change.notifications.first?.deliveries.contains { $0.delivery.state == .abandoned } == true
          && change.notifications.first?.deliveries.contains {
            $0.delivery.attempts == 1
              && $0.delivery.state == .waiting
          } == true
      }
      let deliveries = try #require(change.notifications.first).deliveries.map(\.delivery)
      let waiting = try #require(deliveries.first { $0.state == .waiting })
      #expect(waiting.reason?.contains("503") == true)
      #expect(waiting.due >= waiting.updated.advanced(bySeconds: 3000))
      let abandoned = try #require(deliveries.first { $0.state == .abandoned })
      #expect(abandoned.reason?.contains("410") == true)

      // The next change finds the device gone.
      try await save("B", at: service)
      let next = try await explain("B", at: service) { !$0.notifications.isEmpty }
      let reasons = try #require(next.notifications.first).silentDevices
      #expect(reasons.map(\.code) == [.deviceGone])
      #expect(reasons.first?.device == abandoned.token)
    }
  }

  @Test("a push that was merged names the one that went in its place")
  func merged() async throws {
    try await withPushService { service, push in
      let browser = try push.subscribe()
      try await service.register(browser, device: "tab")
      try await subscribe(service, info: #""shouldSendContentAvailable": true"#)
      push.script([.init(503, [("retry-after", "3600")])], for: browser)
      try await save("A", at: service)
      _ = try await explain("A", at: service) { change in
        change.notifications.first?.deliveries.first?.delivery.attempts == 1
      }
      try await save("B", at: service)
      _ = try await explain("B", at: service) { !$0.notifications.isEmpty }
      service.clock.advance(bySeconds: 3601)
      // New work makes the server look at the clock.
      try await save("C", at: service)
      let change = try await explain("A", at: service) { change in
        change.notifications.first?.deliveries.first?.delivery.state == .merged
      }
      let newer = try #require(change.notifications.first?.deliveries.first?.mergedInto)
      let names = ["B", "C"]
      #expect(names.contains(newer.notification.change.record?.recordID.recordName ?? ""))
    }
  }

  // MARK: Devices without a push

  @Test("a subscriber without a device has no push, and a reader of the courier comes by itself")
  func noDevice() async throws {
    try await withService { service in
      try await subscribe(service)
      try await save("A", at: service)
      let change = try await explain("A", at: service) { !$0.notifications.isEmpty }
      #expect(change.notifications.first?.silentDevices.map(\.code) == [.noDevice])
      _ = try await service.makeReader(as: service.alice)
      let later = try await explain("A", at: service) { !$0.notifications.isEmpty }
      #expect(later.notifications.first?.silentDevices.map(\.code) == [.noDevice, .courier])
    }
  }

  @Test("the device that made the change, and one that came later, have no push")
  func originAndLater() async throws {
    try await withPushService { service, push in
      try await service.register(push.subscribe(), device: "own")
      try await subscribe(service)
      try await save("A", device: "own", at: service)
      _ = try await explain("A", at: service) { !$0.notifications.isEmpty }
      service.clock.advance(bySeconds: 60)
      try await service.register(push.subscribe(), device: "new")
      let change = try await explain("A", at: service) { !$0.notifications.isEmpty }
      let codes = change.notifications.first?.silentDevices.map(\.code.rawValue).sorted()
      #expect(codes == ["originDevice", "registeredLater"])
    }
  }

  // MARK: What did not fire

  @Test("each filter that says no is told with the value it saw, the first one first")
  func filters() async throws {
    try await withService { service in
      try await subscribe(
        service, id: "picky",
        filters: """
          {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "Bread"}},
          {"fieldName": "price", "comparator": "LESS_THAN",
           "fieldValue": {"value": 5, "type": "INT64"}},
          {"fieldName": "title", "comparator": "BEGINS_WITH", "fieldValue": {"value": "M"}}
          """)
      try await save("A", at: service)
      let reasons = try await reasons(against: "picky", for: "A", at: service)
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
      try await subscribe(service, id: "type", type: "Task")
      try await subscribe(service, id: "event", firesOn: ["update", "delete"])
      try await subscribe(service, id: "fits")
      try await save("A", at: service)
      #expect(
        try await reasons(against: "type", for: "A", at: service).map(\.code) == [.recordType])
      let event = try await reasons(against: "event", for: "A", at: service)
      #expect(event.map(\.text) == ["the record was created, and it fires on update and deletion"])
      // Of all, those of other types are left out.
      let all = try await explain("A", at: service) { !$0.notifications.isEmpty }
      #expect(all.silent.map(\.subscriptionID) == ["event"])
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
      let database = try await privateDatabase(service)
      func codes(_ id: String, _ zone: ZoneID) async throws -> [SilenceReason.Code] {
        try await reasons(
          against: id, for: RecordID(recordName: "R", zoneID: zone), in: database, at: service
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
      try await subscribe(service, id: "first", type: "Task")
      try await subscribe(service, id: "gone", type: "Task")
      let answer = try await service.post(
        "public/subscriptions/modify",
        #"{"operations": [{"operationType": "delete", "subscription": {"subscriptionID": "gone"}}]}"#,
        as: service.alice)
      try #require(answer.status == 200, "\(answer.json)")
      try await save("A", at: service)
      try await subscribe(service, id: "late")
      try await service.subscribe(
        """
        {"subscriptionID": "first", "subscriptionType": "query", "firesOn": ["delete"],
         "zoneWide": true, "query": {"recordType": "Note"}}
        """)
      #expect(
        try await reasons(against: "late", for: "A", at: service).map(\.code) == [.notYetSaved])
      #expect(
        try await reasons(against: "first", for: "A", at: service).map(\.code)
          == [.event, .changedSince])
      #expect(
        try await reasons(against: "gone", for: "A", at: service).map(\.code)
          == [.deletedSubscription])
      #expect(
        try await reasons(against: "never", for: "A", at: service).map(\.code)
          == [.unknownSubscription])
    }
  }

  @Test("a subscription in the other database or the other environment is told so")
  func whereabouts() async throws {
    try await withService { service in
      try await subscribe(service, id: "here", type: "Task")
      try await service.subscribe(
        #"{"subscriptionID": "private", "subscriptionType": "database"}"#, in: "private")
      let production = try await service.store.database(
        at: DatabaseAddress(
          container: Service.container, environment: .production, scope: .private,
          owner: service.alice.recordName))
      _ = try await service.store.modifySubscriptions(
        [.save(Subscription(subscriptionID: "live", kind: .database(recordType: nil)))],
        of: service.alice.recordName, in: production, timestamp: .now)
      try await save("A", at: service)
      #expect(
        try await reasons(against: "private", for: "A", at: service).map(\.code)
          == [.otherDatabase])
      #expect(
        try await reasons(against: "live", for: "A", at: service).map(\.code)
          == [.otherEnvironment])
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
      try await save("A", at: service)
      let change = try await explain("A", at: service) { _ in true }
      #expect(change.notifications.isEmpty)
      #expect(change.silent.map(\.subscriber) == [service.bob.recordName])
      #expect(change.silent.first?.reasons.map(\.code) == [.permission])
    }
  }

  @Test("a change that is too large is kept without its values, and one of long ago not at all")
  func limits() async throws {
    try await withService { service in
      try await service.restart { $0.changeHistory.changeBytes = 1_000 }
      try await subscribe(service, id: "picky", firesOn: ["delete"])
      try await update("A", String(repeating: "x", count: 2_000), at: service)
      #expect(
        try await reasons(against: "picky", for: "A", at: service).map(\.code) == [.valuesNotKept])
      try await service.store.trim(at: Timestamp.now.advanced(bySeconds: 8 * 86_400))
      let explanation = try await Explainer(store: service.store).explain(
        RecordID(recordName: "A"), in: database(service))
      #expect(explanation.changes.isEmpty)
      #expect(explanation.remark?.contains("no change of it is kept") == true)
    }
  }

  @Test("the history of a database has no more changes than it may, the latest")
  func historyIsBounded() async throws {
    try await withService { service in
      try await service.restart { $0.changeHistory.changes = 5 }
      try await subscribe(service)
      for number in 1...13 { try await save("N\(number)", at: service) }
      func names() async throws -> [String?] {
        try await service.store.pastChanges(of: nil, in: database(service), before: nil, limit: 99)
          .map(\.recordName)
      }
      try await eventually("all is dispatched") { try await names().first == "N13" }
      #expect(try await names() == ["N13", "N12", "N11", "N10", "N9"])
      // Which slot is the oldest is known after a restart, too.
      try await service.restart { $0.changeHistory.changes = 5 }
      try await save("N14", at: service)
      try await eventually("it is dispatched") { try await names().first == "N14" }
      #expect(try await names() == ["N14", "N13", "N12", "N11", "N10"])
    }
  }

  // MARK: Subscriptions and dry runs

  @Test("a subscription's firings, and what it looked at in vain, are told")
  func subscription() async throws {
    try await withService { service in
      try await subscribe(
        service, id: "cheap",
        filters: """
          {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "Milk"}},
          {"fieldName": "price", "comparator": "LESS_THAN",
           "fieldValue": {"value": 5, "type": "INT64"}}
          """)
      for (name, price) in [("A", 3), ("B", 7), ("C", 4)] {
        try await save(name, #", "price": {"value": \#(price), "type": "INT64"}"#, at: service)
      }
      _ = try await explain("C", at: service) { !$0.notifications.isEmpty }
      let name = SubscriptionName(
        subscriber: service.alice.recordName, subscriptionID: "cheap")
      let explanation = try await Explainer(store: service.store).explain(
        name, in: database(service))
      #expect(
        explanation.firings.map { $0.entry.notification.change.record?.recordID.recordName }
          == ["C", "A"])
      #expect(explanation.tally.changes == 3 && explanation.tally.fitting == 2)
      // The index looks where the title is Milk, and finds that the price is not right.
      #expect(explanation.tally.lookedAtInVain == 1)
      #expect(explanation.tally.refusals.map(\.value) == [1])
      #expect(explanation.tally.refusals.first?.key.key == .field("price"))
    }
  }

  @Test("a dry run tells who would fire and who would have fired, and keeps nothing")
  func dryRuns() async throws {
    try await withService { service in
      try await subscribe(service, id: "all")
      try await subscribe(service, id: "deleted", firesOn: ["delete"])
      for name in ["A", "B"] { try await save(name, at: service) }
      _ = try await explain("B", at: service) { !$0.notifications.isEmpty }
      let explainer = Explainer(store: service.store)
      let record = Record(recordID: RecordID(recordName: "X"), recordType: "Note")
      let run = try await explainer.dryRun(
        Change(
          event: .recordCreated, zoneID: .default, record: record, notificationID: UUID(),
          timestamp: .now), in: database(service))
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
        wanted, of: service.alice.recordName, in: database(service))
      #expect(past.fitting.map(\.recordName) == ["A"])
      #expect(past.tally.changes == 2)
      #expect(try await service.store.records([record.recordID], in: database(service)) == [nil])
    }
  }
}

extension ExplanationTests {
  private func subscribe(
    _ service: Service, id: String = "notes", type: String = "Note",
    firesOn: [String] = ["create", "update"], filters: String = "",
    info: String = #""alertBody": "New note""#
  ) async throws {
    let events = firesOn.map { "\"\($0)\"" }.joined(separator: ", ")
    let answer = try await service.subscribe(
      """
      {"subscriptionID": "\(id)", "subscriptionType": "query", "firesOn": [\(events)],
       "zoneWide": true, "query": {"recordType": "\(type)", "filterBy": [\(filters)]},
       "notificationInfo": {\(info)}}
      """)
    try #require(answer["serverErrorCode"] == nil, "\(answer)")
  }

  private func save(
    _ name: String, _ more: String = "", device: String = "phone", at service: Service
  ) async throws {
    let answer = try await service.modify(
      Service.operation("create", name, #""title": {"value": "Milk"}"# + more), device: device)
    try #require(answer.outcomes == ["ok"], "\(answer.json)")
  }

  private func update(_ name: String, _ title: String, at service: Service) async throws {
    let answer = try await service.modify(
      Service.operation("forceUpdate", name, #""title": {"value": "\#(title)"}"#), device: "phone")
    try #require(answer.outcomes == ["ok"], "\(answer.json)")
  }

  private func database(_ service: Service) async throws -> DatabaseID {
    try await service.store.database(
      at: DatabaseAddress(
        container: Service.container, environment: .development, scope: .public, owner: nil))
  }

  private func privateDatabase(_ service: Service) async throws -> DatabaseID {
    try await service.store.database(
      at: DatabaseAddress(
        container: Service.container, environment: .development, scope: .private,
        owner: service.alice.recordName))
  }

  /// The explanation of a record's latest change, once it is as told.
  private func explain(
    _ recordName: String, at service: Service,
    until isDone: (ChangeExplanation) -> Bool
  ) async throws -> ChangeExplanation {
    var latest: ChangeExplanation?
    let database = try await database(service)
    try await eventually("the change of \(recordName) is as it should be") {
      latest = try await Explainer(store: service.store).explain(
        RecordID(recordName: recordName), in: database
      ).changes.first
      return latest.map { $0.dispatched != nil && isDone($0) } == true
    }
    return try #require(latest)
  }

  /// Why Alice's subscription did not fire on the latest change of a record.
  private func reasons(
    against subscriptionID: String, for recordName: String, at service: Service
  ) async throws -> [SilenceReason] {
    try await reasons(
      against: subscriptionID, for: RecordID(recordName: recordName), in: database(service),
      at: service)
  }

  private func reasons(
    against subscriptionID: String, for recordID: RecordID, in database: DatabaseID,
    at service: Service
  ) async throws -> [SilenceReason] {
    var change: ChangeExplanation?
    try await eventually("the change is dispatched") {
      change = try await Explainer(store: service.store).explain(
        recordID, in: database,
        about: .init(subscriber: service.alice.recordName, subscriptionID: subscriptionID)
      ).changes.first
      return change?.dispatched != nil
    }
    #expect(change?.silent.count == 1)
    return change?.silent.first?.reasons ?? []
  }
}
