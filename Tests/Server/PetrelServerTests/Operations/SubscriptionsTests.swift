import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import Testing

@testable import DatabaseAPI

struct SubscriptionsTests {
  private static func query(_ id: String, _ more: String = "") -> String {
    """
    {"subscriptionType": "query", "subscriptionID": "\(id)", "firesOn": ["create"],
     "query": {"recordType": "Note"}\(more)}
    """
  }

  private static func list(_ service: Service, _ database: String, as user: TestUser)
    async throws -> [String]
  {
    try await service.get("\(database)/subscriptions/list", as: user).items
      .map { $0["subscriptionID"]?.string ?? "" }
  }

  @Test(
    "every kind is saved and comes back as it was, in both spellings of a database subscription")
  func kinds() async throws {
    try await withService { service in
      try await service.makeZone("Z")
      let saved: [(String, String, JSONValue, JSONValue?)] = [
        ("q", "private", "query", "_defaultZone"),
        ("z", "private", "zone", "Z"), ("d1", "private", "zone", nil),
        ("d2", "private", "zone", nil),
      ]
      for text in [
        Self.query(
          "q", #", "notificationInfo": {"alertBody": "Hi", "additionalFields": ["title"]}"#),
        #"{"subscriptionType": "zone", "subscriptionID": "z", "zoneWide": true, "#
          + #""zoneID": {"zoneName": "Z"}}"#,
        #"{"subscriptionType": "zone", "subscriptionID": "d1", "zoneWide": true}"#,
        #"{"subscriptionType": "database", "subscriptionID": "d2"}"#,
      ] {
        #expect(try await service.subscribe(text, in: "private").outcome == "ok", "\(text)")
      }
      for (id, database, type, zone) in saved {
        let found = try await service.post(
          "\(database)/subscriptions/lookup",
          #"{"subscriptions": [{"subscriptionID": "\#(id)"}]}"#, as: service.alice)
        #expect(found.outcomes == ["ok"])
        #expect(found[0]["subscriptionType"] == type, "\(found.json)")
        #expect(found[0]["zoneID"]?["zoneName"] == zone, "\(found.json)")
        #expect((found[0]["zoneWide"] == true) == (zone == nil))
      }
      let query = try await service.get("private/subscriptions/list", as: service.alice).items
        .first { $0["subscriptionID"] == "q" }
      #expect(query?["query"]?["recordType"] == "Note")
      #expect(query?["firesOn"] == ["create"])
      #expect(query?["firesOnce"] == false)
      #expect(query?["notificationInfo"]?["alertBody"] == "Hi")
      #expect(query?["notificationInfo"]?["additionalFields"] == ["title"])
    }
  }

  @Test("one that replaces another type is answered and logged with both types; others are not")
  func replacedType() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log)) { service in
      func save(_ texts: String..., by user: TestUser) async throws -> Answer {
        let operations = texts.map { #"{"operationType": "create", "subscription": \#($0)}"# }
        return try await service.post(
          "private/subscriptions/modify",
          #"{"operations": [\#(operations.joined(separator: ","))]}"#, as: user)
      }
      func database(_ id: String) -> String {
        #"{"subscriptionType": "database", "subscriptionID": "\#(id)"}"#
      }
      let first = try await save(Self.query("s"), Self.query("t"), by: service.alice)
      let same = try await save(Self.query("s"), by: service.alice)
      let other = try await save(database("s"), by: service.bob)
      for answer in [first, same, other] {
        #expect(answer.status == 200 && !answer.json.text.contains("replaced"), "\(answer.json)")
      }
      #expect(lines.containing("replaced").isEmpty)

      let replacing = try await save(
        database("s"), Self.query("u"), database("t"), by: service.alice)
      #expect(replacing.outcomes == ["ok", "ok", "ok"])
      #expect(
        replacing.items.map { $0["replacedSubscriptionType"]?.string } == ["query", nil, "query"])
      #expect(
        lines.containing("replaced") == [
          "warning subscriptions replaced others of another type: "
            + "request=\(replacing.headers["x-apple-request-uuid"] ?? "") method=POST "
            + "path=/database/1/iCloud.com.example.app/development/private/subscriptions/modify "
            + "caller=\(service.alice.recordName) subscriptions=s:query>database,t:query>database"
        ])
      let back = try await save(Self.query("s"), by: service.alice)
      #expect(back[0]["replacedSubscriptionType"] == "database")
      let listed = try await service.get("private/subscriptions/list", as: service.alice)
      #expect(!listed.json.text.contains("replaced"))
    }
  }

  @Test("a line of the log names five of those that replaced another type, and counts the rest")
  func manyReplacedTypes() {
    let lines = LogLines()
    let journal = FailureJournal(log: lines.log) { Timestamp(milliseconds: 0) }
    let replaced = (0..<8).map { number in
      ReplacedSubscription(
        by: Subscription(
          subscriptionID: "s \(number)\n", kind: .database(recordType: nil)), .zone)
    }
    journal.note(
      replaced, of: HTTPRequest(method: "POST", target: "/x"), RequestInfo(operation: "x"), by: nil)
    let line = lines.containing("replaced").first ?? ""
    #expect(line.contains("s4:zone>database more=3"), "\(line)")
    #expect(!line.contains("s5") && !line.contains("\n"))
    journal.note(
      [ReplacedSubscription](), of: HTTPRequest(method: "POST", target: "/x"),
      RequestInfo(operation: "x"), by: nil)
    #expect(lines.containing("replaced").count == 1)
    // As many lines as the log takes of failures, and no more.
    for _ in 0..<2_000 {
      journal.note(
        replaced, of: HTTPRequest(method: "POST", target: "/x"), RequestInfo(operation: "x"),
        by: nil)
    }
    #expect(lines.containing("replaced").count == 1_000)
  }

  @Test("a subscription without an ID gets one")
  func makesID() async throws {
    try await withService { service in
      let saved = try await service.subscribe(
        #"{"subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Note"}}"#)
      #expect(UUID(uuidString: saved["subscriptionID"]?.string ?? "") != nil, "\(saved)")
    }
  }

  @Test("saving an ID again replaces the subscription", arguments: ["create", "update"])
  func replaces(operation: String) async throws {
    try await withService { service in
      try await service.subscribe(Self.query("s"))
      let answer = try await service.post(
        "public/subscriptions/modify",
        """
        {"operations": [{"operationType": "\(operation)", "subscription":
          {"subscriptionType": "query", "subscriptionID": "s", "firesOn": ["delete"],
           "firesOnce": true, "query": {"recordType": "Other"}}}]}
        """, as: service.alice)
      #expect(answer.outcomes == ["ok"])
      let list = try await service.get("public/subscriptions/list", as: service.alice)
      #expect(list.items.count == 1)
      #expect(list[0]["query"]?["recordType"] == "Other")
      #expect(list[0]["firesOn"] == ["delete"] && list[0]["firesOnce"] == true)
    }
  }

  @Test("two subscriptions with the same content and different IDs are two")
  func sameContent() async throws {
    try await withService { service in
      try await service.subscribe(Self.query("a"))
      #expect(try await service.subscribe(Self.query("b")).outcome == "ok")
      #expect(try await Self.list(service, "public", as: service.alice) == ["a", "b"])
    }
  }

  @Test("deleting answers with the ID; an unknown ID is a failure of its own")
  func deletes() async throws {
    try await withService { service in
      try await service.subscribe(Self.query("s"))
      let answer = try await service.post(
        "public/subscriptions/modify",
        """
        {"operations": [
          {"operationType": "delete", "subscription": {"subscriptionID": "unknown"}},
          {"operationType": "delete", "subscription": {"subscriptionID": "s"}}]}
        """, as: service.alice)
      #expect(answer.outcomes == ["NOT_FOUND", "deleted"], "\(answer.json)")
      #expect(answer.items.map { $0["subscriptionID"] } == ["unknown", "s"])
      #expect(answer[0].reason.contains("'unknown'"))
      #expect(try await Self.list(service, "public", as: service.alice) == [])
    }
  }

  @Test("a caller sees and deletes his own subscriptions only, also under the same ID")
  func ownOnly() async throws {
    try await withService { service in
      try await service.subscribe(Self.query("s"), as: service.alice)
      #expect(try await Self.list(service, "public", as: service.bob) == [])
      let lookup = try await service.post(
        "public/subscriptions/lookup", #"{"subscriptions": [{"subscriptionID": "s"}]}"#,
        as: service.bob)
      #expect(lookup.outcomes == ["NOT_FOUND"])
      let delete = try await service.post(
        "public/subscriptions/modify",
        #"{"operations": [{"operationType": "delete", "subscription": {"subscriptionID": "s"}}]}"#,
        as: service.bob)
      #expect(delete.outcomes == ["NOT_FOUND"])
      #expect(try await service.subscribe(Self.query("s"), as: service.bob).outcome == "ok")
      #expect(try await Self.list(service, "public", as: service.alice) == ["s"])
      #expect(try await Self.list(service, "private", as: service.alice) == [])
    }
  }

  @Test("each operation stands alone: a broken one leaves the others be")
  func separateOperations() async throws {
    try await withService { service in
      let answer = try await service.post(
        "public/subscriptions/modify",
        """
        {"operations": [
          {"operationType": "create", "subscription": {"subscriptionID": "bare"}},
          {"operationType": "create", "subscription": \(Self.query("good"))},
          {"operationType": "upsert", "subscription": \(Self.query("odd"))}]}
        """, as: service.alice)
      #expect(answer.outcomes == ["BAD_REQUEST", "ok", "BAD_REQUEST"], "\(answer.json)")
      #expect(answer[0]["subscriptionID"] == "bare")
      #expect(
        answer[0].reason.contains("operations[0].subscription: 'subscriptionType' is missing"))
      #expect(answer[2].reason.contains("'upsert' must be one of create, update, delete"))
    }
  }

  @Test("subscriptions are there after a restart")
  func surviveRestart() async throws {
    try await withService { service in
      try await service.subscribe(Self.query("s"))
      try await service.restart()
      #expect(try await Self.list(service, "public", as: service.alice) == ["s"])
    }
  }
}
