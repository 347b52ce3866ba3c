import Foundation
import JSONCoding
import Testing
import Waiting

struct NotificationsTests {
  private static func subscription(_ id: String, _ more: String = "") -> String {
    """
    {"subscriptionType": "query", "subscriptionID": "\(id)", "firesOn": ["create"],
     "query": {"recordType": "Note"}\(more)}
    """
  }

  /// The log's changes, once there are as many as expected.
  private static func changes(
    _ count: Int, of user: TestUser, in service: Service
  ) async throws -> Answer {
    var answer = try await service.post("notifications/changes", "{}", as: user)
    try await eventually("\(count) notifications are logged") {
      answer = try await service.post("notifications/changes", "{}", as: user)
      return answer.items.count >= count
    }
    return answer
  }

  private static func token(_ answer: Answer) -> String { answer.json["syncToken"]?.string ?? "" }

  private static func id(_ item: JSONValue) -> String { item["ck"]?["nid"]?.string ?? "" }

  @Test("the log has the payloads of all databases, whole, page by page")
  func pages() async throws {
    try await withService { service in
      let info = #", "notificationInfo": {"alertBody": "Hi", "additionalFields": ["title"]}"#
      try await service.subscribe(Self.subscription("public", info))
      try await service.subscribe(Self.subscription("private"), in: "private")
      let long = String(repeating: "x", count: 9000)
      _ = try await service.modify(
        Service.operation("create", "a", #""title": {"value": "\#(long)"}"#))
      _ = try await Self.changes(1, of: service.alice, in: service)
      _ = try await service.modify(Service.operation("create", "b"), in: "private")
      let all = try await Self.changes(2, of: service.alice, in: service)
      #expect(all.status == 200)
      #expect(all.json["moreComing"] == false)
      #expect(all[0]["aps"] == ["alert": "Hi"])
      let ck = all[0]["ck"]
      #expect(ck?["p"] == nil && ck?["ce"] == 2 && ck?["cid"]?.string == Service.container)
      #expect(ck?["ckuserid"]?.string == service.alice.recordName)
      #expect(ck?["qry"]?["sid"] == "public" && ck?["qry"]?["dbs"] == 2)
      #expect(ck?["qry"]?["af"] == nil)
      #expect(all[0]["fields"] == ["title": ["value": .string(long), "type": "STRING"]])
      #expect(all[1]["ck"]?["qry"]?["sid"] == "private" && all[1]["aps"] == nil)
      #expect(all.items.allSatisfy { $0["read"] == nil })

      let first = try await service.post(
        "notifications/changes", #"{"resultsLimit": 1}"#, as: service.alice)
      #expect(first.items == [all[0]])
      #expect(first.json["moreComing"] == true)
      let second = try await service.post(
        "notifications/changes", #"{"resultsLimit": 1, "syncToken": "\#(Self.token(first))"}"#,
        as: service.alice)
      #expect(second.items == [all[1]] && second.json["moreComing"] == false)
      let none = try await service.post("notifications/changes", "{}", as: service.bob)
      #expect(none.status == 200 && none.items == [])
    }
  }

  @Test("marks show up behind older tokens, with nothing but the ID")
  func marks() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription("s"))
      try await service.subscribe(Self.subscription("t"))
      _ = try await service.modify(Service.operation("create", "a"))
      let before = try await Self.changes(2, of: service.alice, in: service)
      let id = Self.id(before[0])
      #expect(Self.id(before[1]) == id)
      let marked = try await service.post(
        "notifications/markRead",
        """
        {"notifications": [{"notificationID": "\(id)"}, {"notificationID": "nonsense"},
          {"notificationID": "\(UUID())"}]}
        """, as: service.alice)
      #expect(marked.outcomes == ["ok", "NOT_FOUND", "NOT_FOUND"], "\(marked.json)")
      #expect(marked[0] == ["notificationID": .string(id), "read": true])
      #expect(marked[1]["notificationID"] == "nonsense")
      #expect(marked[1].reason.contains("'nonsense'"))
      let after = try await service.post(
        "notifications/changes", #"{"syncToken": "\#(Self.token(before))"}"#, as: service.alice)
      #expect(
        after.items == [
          [
            "ck": ["ce": 2, "cid": .string(Service.container), "nid": .string(id), "aux": [:]],
            "read": true,
          ]
        ])
      // What is another's cannot be marked.
      let foreign = try await service.post(
        "notifications/markRead", #"{"notifications": [{"notificationID": "\#(id)"}]}"#,
        as: service.bob)
      #expect(foreign.outcomes == ["NOT_FOUND"])
    }
  }

  @Test("a token from before what was trimmed, or of another user, has expired")
  func expired() async throws {
    try await withService { service in
      func changes(_ token: String, _ user: TestUser) async throws -> Answer {
        try await service.post(
          "notifications/changes", #"{"syncToken": "\#(token)"}"#, as: user)
      }
      service.clock.advance(bySeconds: -31 * 86_400)
      try await service.subscribe(Self.subscription("s"))
      let early = try await service.post("notifications/changes", "{}", as: service.alice)
      _ = try await service.modify(Service.operation("create", "a"))
      let late = try await Self.changes(1, of: service.alice, in: service)
      #expect(try await changes(Self.token(early), service.alice).items.count == 1)
      service.clock.advance(bySeconds: 31 * 86_400)
      try await service.store.maintenance.trim(at: service.clock.read())
      let refused = try await changes(Self.token(early), service.alice)
      #expect(refused.failure == "400 CHANGE_TOKEN_EXPIRED")
      #expect(refused.reason.contains("older than the notification log's oldest entry"))
      #expect(try await changes(Self.token(late), service.alice).items == [])
      #expect(try await Self.changes(0, of: service.alice, in: service).items == [])
      let foreign = try await changes(Self.token(late), service.bob)
      #expect(foreign.failure == "400 CHANGE_TOKEN_EXPIRED")
    }
  }

  @Test(
    "a bad request is refused with its reason",
    arguments: [
      ("notifications/changes", #"{"syncToken": "x"}"#, "not one of a notification log"),
      ("notifications/changes", #"{"resultsLimit": -1}"#, "resultsLimit"),
      ("notifications/markRead", "{}", "'notifications' is missing"),
      ("tokens/badge", #"{"badge": -5}"#, "badge: -5"),
      ("tokens/badge", "{}", "'badge' is missing"),
    ])
  func bad(operation: String, body: String, reason: String) async throws {
    try await withService { service in
      let answer = try await service.post(operation, body, as: service.alice)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(answer.reason.contains(reason), "\(answer.reason)")
      let anonymous = try await service.post(operation, body, as: nil)
      #expect(anonymous.failure == "421 AUTHENTICATION_REQUIRED")
    }
  }

  @Test("a badge that is set is what the next notification counts from")
  func badge() async throws {
    try await withService { service in
      try await service.subscribe(
        Self.subscription("s", #", "notificationInfo": {"shouldBadge": true}"#))
      let reader = try await service.makeReader(as: service.alice)
      let answer = try await service.post("tokens/badge", #"{"badge": 41}"#, as: service.alice)
      #expect(answer.json == ["badge": 41])
      _ = try await service.modify(Service.operation("create", "a"))
      #expect(try await service.poll(reader).json["aps"]?["badge"] == 42)
      // The log does not say what a device's badge was.
      #expect(try await Self.changes(1, of: service.alice, in: service)[0]["aps"]?["badge"] == nil)
    }
  }
}
