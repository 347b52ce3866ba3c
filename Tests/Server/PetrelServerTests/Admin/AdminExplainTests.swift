import CloudKitModel
import Foundation
import JSONCoding
import Storage
import StoreModel
import Testing
import Waiting

@testable import PetrelServer

struct AdminExplainTests {
  private static let query = "container=iCloud.com.example.app&environment=development"

  private func withNotes(_ body: (Service, String) async throws -> Void) async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for (id, filter) in [("all", ""), ("bread", Self.titleIs("Bread"))] {
        try await service.subscribe(
          """
          {"subscriptionID": "\(id)", "subscriptionType": "query", "firesOn": ["create"],
           "zoneWide": true, "query": {"recordType": "Note", "filterBy": [\(filter)]}}
          """)
      }
      let answer = try await service.modify(
        Service.operation("create", "A", #""title": {"value": "Milk"}"#), device: "phone")
      try #require(answer.outcomes == ["ok"])
      try await body(service, key)
    }
  }

  private static func titleIs(_ title: String) -> String {
    """
    {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "\(title)"}}
    """
  }

  @Test("a record is explained with what fired and what did not")
  func record() async throws {
    try await withNotes { service, key in
      var change: JSONValue?
      try await eventually("the change is dispatched") {
        let answer = try await service.adminGet(
          "explain/record?\(Self.query)&recordName=A", key: key)
        change = answer.json["changes"]?.array?.first
        return change?["steps"]?.array?.count == 2
      }
      #expect(change?["event"]?.string == "recordCreated")
      #expect(change?["notifications"]?.array?.map { $0["subscriptionID"] } == [.string("all")])
      let silent = try #require(change?["silent"]?.array?.first)
      #expect(silent["subscriptionID"]?.string == "bread")
      let reason = try #require(silent["reasons"]?.array?.first)
      #expect(reason["code"]?.string == "filter")
      #expect(reason["filter"]?.string == "title == 'Bread'")
      #expect(reason["value"]?.string == "'Milk'")
    }
  }

  @Test("a subscription is explained, and dry runs keep nothing")
  func dryRuns() async throws {
    try await withNotes { service, key in
      try await eventually("the change is dispatched") {
        try await service.adminGet(
          "explain/subscription?\(Self.query)&subscriber=alice&subscriptionID=all", key: key
        ).json["firings"]?.array?.count == 1
      }
      let place: [String: JSONValue] = ["container": "iCloud.com.example.app"]
      func dryRun(_ path: String, _ members: [String: JSONValue]) async throws -> Answer {
        try await service.adminPost(
          "explain/dry-run/" + path, .object(place.merging(members) { $1 }), key: key)
      }
      let record: JSONValue = [
        "recordName": "B", "recordType": "Note", "fields": ["title": ["value": "Bread"]],
      ]
      let firing = try await dryRun("record", ["record": record])
      #expect(
        firing.json["firing"]?.array?.map { $0["subscriptionID"] } == [
          .string("all"), .string("bread"),
        ])
      let subscription: JSONValue = [
        "subscriptionID": "new", "subscriptionType": "query", "firesOn": ["create"],
        "zoneWide": true, "query": ["recordType": "Note"],
      ]
      let fitting = try await dryRun("subscription", ["subscription": subscription])
      #expect(fitting.json["fitting"]?.array?.map { $0["recordName"] } == [.string("A")])
      #expect(try await service.lookup("B").outcomes == ["NOT_FOUND"])
    }
  }

  @Test(
    "what is missing or wrong is told by its name",
    arguments: [
      ("recordName=", "recordName"), ("recordName=A&limit=0", "limit"),
      ("recordName=A&subscriber=nobody", "subscriber"), ("recordName=A&color=red", "color"),
    ])
  func mistakes(query: String, name: String) async throws {
    try await withNotes { service, key in
      let answer = try await service.adminGet("explain/record?\(Self.query)&\(query)", key: key)
      #expect(answer.status == 400)
      #expect(answer.json["reason"]?.string?.contains("'\(name)'") == true, "\(answer.json)")
      #expect(try await service.adminGet("explain/record?\(Self.query)", key: nil).status == 421)
    }
  }
}

extension AdminExplainTests {
  private static let place: [String: JSONValue] = ["container": "iCloud.com.example.app"]

  /// 2,100 subscriptions of a user who comes before all others, to titles that no record has.
  private func addManySubscriptions(_ service: Service) async throws {
    let database = try #require(
      try await service.store.databases.existingDatabase(
        at: DatabaseAddress(
          container: "iCloud.com.example.app", environment: .development, scope: .public,
          owner: nil)))
    let subscriptions = (0..<2_100).map { number in
      SubscriptionOperation.save(
        Subscription(
          subscriptionID: "s\(number)",
          kind: .query(
            Query(
              recordType: "Note",
              filters: [Filter(.field("title"), .equals, .string("\(number)"))]),
            zoneID: nil, options: .events)))
    }
    service.store.quotas.limits[.subscriptionsPerUser] = nil
    for start in stride(from: 0, to: subscriptions.count, by: 300) {
      _ = try await service.store.subscriptions.modifySubscriptions(
        Array(subscriptions[start..<min(start + 300, subscriptions.count)]), of: "_0",
        in: database, timestamp: .now)
    }
  }

  @Test("a dry run of a record among many tells all that fire at once, and the others in pages")
  func manySubscriptions() async throws {
    try await withNotes { service, key in
      try await addManySubscriptions(service)
      var body = Self.place
      body["record"] = [
        "recordName": "B", "recordType": "Note", "fields": ["title": ["value": "Bread"]],
      ]
      try await eventually("the index is read") {
        try await service.adminPost("explain/dry-run/record", .object(body), key: key)
          .json["fitting"]?.int == 2
      }
      var silent: [String] = []
      var lookedAt: Int64 = 0
      var pages = 0
      repeat {
        let answer = try await service.adminPost(
          "explain/dry-run/record", .object(body), key: key)
        try #require(answer.status == 200, "\(answer.json)")
        if pages == 0 {
          #expect(answer.json["fitting"]?.int == 2)
          let firing = answer.json["firing"]?.array?.compactMap { $0["subscriptionID"]?.string }
          #expect(firing == ["all", "bread"])
        }
        silent += answer.json["silent"]?.array?.compactMap { $0["subscriptionID"]?.string } ?? []
        lookedAt += answer.json["lookedAt"]?.int ?? 0
        body["continuation"] = answer.json["continuation"]
        pages += 1
      } while body["continuation"] != nil && pages < 100
      #expect(silent.count == 2_100)
      #expect(Set(silent).count == 2_100, "each of them once")
      #expect(lookedAt == 2_102)
    }
  }

  @Test("a dry run of one user's subscriptions is about these alone, however many there are")
  func oneUser() async throws {
    try await withNotes { service, key in
      try await addManySubscriptions(service)
      var body = Self.place
      body["record"] = [
        "recordName": "B", "recordType": "Note", "fields": ["title": ["value": "17"]],
      ]
      body["subscriber"] = "alice"
      let answer = try await service.adminPost("explain/dry-run/record", .object(body), key: key)
      #expect(answer.json["lookedAt"]?.int == 2)
      #expect(answer.json["firing"]?.array?.map { $0["subscriptionID"] } == [.string("all")])
      #expect(answer.json["silent"]?.array?.map { $0["subscriptionID"] } == [.string("bread")])
      #expect(answer.json["users"]?.object?.values.sorted { $0.text < $1.text } == ["alice"])
    }
  }

  @Test("subscriptions of one ID are found among all users', and in pages")
  func oneID() async throws {
    try await withNotes { service, key in
      try await addManySubscriptions(service)
      let database = try #require(
        try await service.store.databases.existingDatabase(
          at: DatabaseAddress(
            container: "iCloud.com.example.app", environment: .development, scope: .public,
            owner: nil)))
      var found: [SubscriptionState] = []
      var last: SubscriptionName?
      var pages = 0
      repeat {
        let page = try await service.store.changeHistory.subscriptionStates(
          withID: "bread", of: nil, in: database, after: last, limit: 10)
        found += page.states
        last = page.next
        pages += 1
      } while last != nil
      #expect(found.map(\.stored.subscription.subscriptionID) == ["bread"])
      #expect(pages == 5, "500 of 2,102 names each")
      var body = Self.place
      body["record"] = [
        "recordName": "B", "recordType": "Note", "fields": ["title": ["value": "Bread"]],
      ]
      body["subscriptionID"] = "bread"
      let answer = try await service.adminPost("explain/dry-run/record", .object(body), key: key)
      #expect(answer.json["firing"]?.array?.map { $0["subscriptionID"] } == [.string("bread")])
      #expect(answer.json["lookedAt"] == 1)
      #expect(answer.json["more"] == false)
    }
  }

  @Test("a proposed predicate is tried, and a mistake in it is told with its place")
  func predicate() async throws {
    try await withNotes { service, key in
      try await eventually("the change is kept") {
        try await service.adminGet(
          "explain/record?container=iCloud.com.example.app&recordName=A", key: key
        ).json["changes"]?.array?.first?["steps"]?.array?.count == 2
      }
      func dryRun(_ predicate: String) async throws -> Answer {
        var body = Self.place
        body["subscription"] = [
          "subscriptionID": "new", "subscriptionType": "query", "firesOn": ["create"],
          "zoneWide": true, "query": ["recordType": "Note"],
        ]
        body["predicate"] = .string(predicate)
        return try await service.adminPost("explain/dry-run/subscription", .object(body), key: key)
      }
      let fitting = try await dryRun(#"title BEGINSWITH "M""#)
      #expect(fitting.json["fitting"]?.array?.map { $0["recordName"] } == [.string("A")])
      let silent = try await dryRun(#"title == "Bread""#)
      #expect(silent.json["fitting"]?.array == [])
      #expect(
        silent.json["tally"]?["refusals"]?.array == [
          ["filter": "title == 'Bread'", "count": 1]
        ])
      let mistake = try await dryRun("title ==")
      #expect(mistake.status == 400)
      let lines = mistake.json["reason"]?.string?.split(separator: "\n").map(String.init) ?? []
      #expect(lines.count == 3)
      #expect(lines.last?.drop { $0 == " " } == "^")
    }
  }

  @Test("one subscription's firing is told, however many others of its owner fired")
  func oneOfManyFirings() async throws {
    try await withNotes { service, key in
      for number in 0..<55 {
        try await service.subscribe(
          """
          {"subscriptionID": "more-\(number)", "subscriptionType": "query", "firesOn": ["create"],
           "zoneWide": true, "query": {"recordType": "Note"}}
          """)
      }
      _ = try await service.modify(Service.operation("create", "B", ""), device: "phone")
      for number in [0, 27, 54] {
        let path =
          "explain/record?\(Self.query)&recordName=B&subscriber=alice&subscriptionID=more-\(number)"
        try await eventually("the firing of more-\(number) is told") {
          let change = try await service.adminGet(path, key: key).json["changes"]?.array?.first
          return change?["notifications"]?.array?.map { $0["subscriptionID"] }
            == [.string("more-\(number)")] && change?["silent"]?.array == []
        }
      }
      let all = try await service.adminGet(
        "explain/record?\(Self.query)&recordName=B&subscriber=alice", key: key)
      let change = all.json["changes"]?.array?.first
      #expect(change?["notifications"]?.array?.count == 50)
      #expect(change?["moreNotifications"] == true)
      #expect(change?["silent"]?.array?.map { $0["subscriptionID"] } == [.string("bread")])
    }
  }

  @Test("older changes of a record follow those that were told")
  func olderChanges() async throws {
    try await withNotes { service, key in
      for title in ["Butter", "Jam"] {
        _ = try await service.modify(
          Service.operation("forceUpdate", "A", #""title": {"value": "\#(title)"}"#))
      }
      let path = "explain/record?container=iCloud.com.example.app&recordName=A&limit=2"
      var newest: [JSONValue] = []
      try await eventually("all changes are matched") {
        newest = try await service.adminGet(path, key: key).json["changes"]?.array ?? []
        return newest.count == 2 && newest.allSatisfy { $0["steps"]?.array?.count == 2 }
          && newest.map { $0["event"]?.string } == ["recordUpdated", "recordUpdated"]
      }
      let last = try #require(newest.last?["sequence"]?.int)
      let older = try await service.adminGet(path + "&before=\(last)", key: key)
      #expect(older.json["changes"]?.array?.map { $0["event"] } == [.string("recordCreated")])
      #expect(older.json["more"] == false)
    }
  }
}
