import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting

@testable import AdminAPI

struct AdminDataTests {
  private static let place: [String: JSONValue] = ["container": .string(Service.container)]

  private func body(_ members: [String: JSONValue]) -> JSONValue {
    .object(Self.place.merging(members) { $1 })
  }

  private func note(
    _ kind: String, _ name: String, _ fields: JSONValue = [:]
  ) -> JSONValue {
    [
      "operationType": .string(kind),
      "record": ["recordType": "Note", "recordName": .string(name), "fields": fields],
    ]
  }

  @Test("A zone that an administrator deletes was deleted for its user, not by the app")
  func zones() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for name in ["A", "B"] { try await service.makeZone(name) }
      let start = try await service.post("private/changes/database", "{}", as: service.alice)
      let token = start.json["syncToken"]?.string ?? ""
      let zone: JSONValue = ["zoneID": ["zoneName": "A"]]
      let deleted = try await service.adminPost(
        "zones/modify",
        body([
          "database": "private", "user": "alice",
          "operations": [["operationType": "delete", "zone": zone]],
        ]), key: key)
      #expect(deleted.status == 200, "\(deleted.json)")
      let own = try await service.post(
        "private/zones/modify",
        #"{"operations": [{"operationType": "delete", "zone": {"zoneID": {"zoneName": "B"}}}]}"#,
        as: service.alice)
      #expect(own.status == 200, "\(own.json)")
      let changes = try await service.post(
        "private/changes/database", #"{"syncToken": "\#(token)"}"#, as: service.alice)
      #expect(changes.items.map { $0["zoneID"]?["zoneName"] } == ["A", "B"])
      #expect(changes.items.map { $0["deleted"] } == [true, true])
      #expect(changes.items.map { $0["purged"] } == [true, nil])
      let gone = try await service.post(
        "private/changes/zone",
        #"{"zones": [{"zoneID": {"zoneName": "A"}}, {"zoneID": {"zoneName": "B"}}]}"#,
        as: service.alice)
      #expect(gone.outcomes == ["USER_DELETED_ZONE", "ZONE_NOT_FOUND"])
      let saved = try await service.modify(
        Service.operation("create", "a", zone: "A"), in: "private")
      #expect(saved.outcomes == ["USER_DELETED_ZONE"])
    }
  }

  @Test("Records of a user's database are made, queried by a predicate, and deleted")
  func records() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let database: [String: JSONValue] = ["database": "private", "user": "alice"]
      let made = try await service.adminPost(
        "records/modify",
        body(
          database.merging([
            "operations": .array(
              (1...5).map { note("create", "n\($0)", ["count": ["value": .int($0)]]) })
          ]) { $1 }), key: key)
      #expect(made.outcomes == ["ok", "ok", "ok", "ok", "ok"], "\(made.json)")
      // The owner finds them as her own.
      #expect(try await service.lookup("n3", in: "private").outcomes == ["ok"])

      var query = database
      query["recordType"] = "Note"
      query["predicate"] = "count > 2"
      query["sortBy"] = ["-count"]
      query["limit"] = 2
      let first = try await service.adminPost("records/query", body(query), key: key)
      #expect(first.items.map(\.name) == ["n5", "n4"], "\(first.json)")
      query["continuation"] = first.json["continuationMarker"]
      let second = try await service.adminPost("records/query", body(query), key: key)
      #expect(second.items.map(\.name) == ["n3"])

      let deleted = try await service.adminPost(
        "records/modify",
        body(database.merging(["operations": [note("forceDelete", "n3")]]) { $1 }), key: key)
      #expect(deleted.outcomes == ["deleted"])
      #expect(try await service.lookup("n3", in: "private").outcomes == ["NOT_FOUND"])
    }
  }

  @Test("A request with a user and without a database is refused, not answered from the public one")
  func userWithoutDatabase() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let answer = try await service.adminPost(
        "records/query", body(["user": "alice", "recordType": "Note"]), key: key)
      #expect(answer.status == 400)
      #expect(
        answer.json["reason"]?.string?.contains("'database' is missing") == true, "\(answer.json)")
    }
  }

  @Test("Records that the grants keep from others are open to who runs the server")
  func grants() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      _ = try await service.modify(Service.operation("create", "alices"))
      let others = try await service.modify(
        Service.operation("forceUpdate", "alices"), as: service.bob)
      #expect(others.outcomes == ["ACCESS_DENIED"])
      let admins = try await service.adminPost(
        "records/modify",
        body(["operations": [note("forceUpdate", "alices", ["title": ["value": "new"]])]]),
        key: key)
      #expect(admins.outcomes == ["ok"], "\(admins.json)")
    }
  }

  @Test("A change made here fires subscriptions as any other does, and the push is listed")
  func pushes() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await service.subscribe(
        #"""
        {"subscriptionID": "all", "subscriptionType": "query", "zoneWide": true,
         "firesOn": ["create"], "query": {"recordType": "Note"}}
        """#, as: service.bob)
      let made = try await service.adminPost(
        "records/modify", body(["operations": [note("create", "first")]]), key: key)
      #expect(made.outcomes == ["ok"], "\(made.json)")
      for query in ["?", "?container=\(Service.container)&"] {
        var found: JSONValue = .null
        try await eventually("the push is listed") {
          let answer = try await service.adminGet("pushes\(query)text=FIRST", key: key)
          found = answer.json["pushes"]?.array?.first ?? .null
          return found != .null
        }
        #expect(found["subscriber"]?.string == service.bob.recordName)
        #expect(found["subscriberName"] == "bob")
        #expect(found["event"] == "recordCreated")
        #expect(found["deliveries"] == [], "bob has no device")
      }
      let other = try await service.adminGet("pushes?text=nothing", key: key)
      #expect(other.json["pushes"] == [])
    }
  }

  @Test("A push without deliveries to some devices tells why")
  func unsent() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let token = String(repeating: "ab", count: 32)
      _ = try await service.post(
        "tokens/register", #"{"apnsEnvironment": "production", "apnsToken": "\#(token)"}"#,
        as: service.alice)
      try await service.watch()
      try await service.saveNote("one")
      var pushes: [JSONValue] = []
      try await eventually("it is logged") {
        pushes =
          try await service.adminGet("pushes?container=\(Service.container)", key: key)
          .json["pushes"]?.array ?? []
        return !pushes.isEmpty
      }
      #expect(pushes[0]["deliveries"] == [])
      #expect(pushes[0]["unsent"] == ["apnsProductionNotSetUp"])
    }
  }

  @Test("Each delivery of a push is told, with its state and the reason")
  func deliveries() async throws {
    try await withServiceOfUnreachableAPNs { service in
      let key = try await service.addAdminKey()
      let token = String(repeating: "ab", count: 32)
      let registered = try await service.post(
        "tokens/register",
        #"{"apnsEnvironment": "development", "apnsToken": "\#(token)", "clientId": "phone"}"#,
        as: service.bob)
      try #require(registered.status == 200, "\(registered.json)")
      try await service.subscribe(
        #"""
        {"subscriptionID": "all", "subscriptionType": "query", "zoneWide": true,
         "firesOn": ["create"], "query": {"recordType": "Note"}}
        """#, as: service.bob)
      _ = try await service.modify(
        Service.operation("create", "one"), Service.operation("create", "two"))
      var pushes: [JSONValue] = []
      try await eventually("both are logged") {
        let answer = try await service.adminGet(
          "pushes?container=\(Service.container)", key: key)
        pushes = answer.json["pushes"]?.array ?? []
        return pushes.count == 2
      }
      #expect(pushes.map { $0["recordName"]?.string } == ["two", "one"], "newest first")
      for push in pushes {
        let deliveries = push["deliveries"]?.array ?? []
        #expect(deliveries.count == 1, "each push has its own alone: \(push.text)")
        #expect(deliveries.first?["token"]?.string == token)
        #expect(["waiting", "merged"].contains(deliveries.first?["state"]?.string ?? ""))
        #expect(push["unsent"] == nil)
      }
      let devices = try await service.adminGet("devices?user=bob", key: key)
      #expect(devices.json["devices"]?.array?.map { $0["token"]?.string } == [token])
      let gone = try await service.adminPost(
        "devices/delete", ["token": .string(token)], key: key)
      #expect(gone.json == ["deleted": .string(token), "kind": "apns"], "whichever has the token")
      #expect(
        try await service.adminPost(
          "devices/delete", ["kind": "apns", "token": .string(token)], key: key
        ).failure == "404 NOT_FOUND")
    }
  }

  @Test("Lists go on from page to page without a gap or a repetition")
  func pages() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for number in 1...5 {
        _ = try await service.store.accounts.addUser(named: "user\(number)", at: .now)
        try await service.subscribe(
          #"""
          {"subscriptionID": "s\#(number)", "subscriptionType": "query", "zoneWide": true,
           "firesOn": ["create"], "query": {"recordType": "Note"}}
          """#, as: number < 3 ? service.alice : service.bob)
      }
      func all(_ path: String, _ list: String, _ member: (JSONValue) -> String?) async throws
        -> [String]
      {
        var found: [String] = []
        var continuation: String?
        repeat {
          let separator = path.contains("?") ? "&" : "?"
          let answer = try await service.adminGet(
            "\(path)\(separator)limit=2" + (continuation.map { "&continuation=\($0)" } ?? ""),
            key: key)
          try #require(answer.status == 200, "\(answer.json)")
          found += answer.json[list]?.array?.compactMap(member) ?? []
          continuation = answer.json["continuation"]?.string
        } while continuation != nil && found.count < 50
        return found
      }
      #expect(
        try await all("users", "users") { $0["name"]?.string }
          == ["alice", "bob", "user1", "user2", "user3", "user4", "user5"])
      #expect(
        try await all("users?text=user", "users") { $0["name"]?.string }
          == ["user1", "user2", "user3", "user4", "user5"])
      let place = "container=\(Service.container)"
      let subscriptions = try await all("subscriptions?\(place)", "subscriptions") {
        $0["subscription"]?["subscriptionID"]?.string
      }
      #expect(subscriptions.sorted() == ["s1", "s2", "s3", "s4", "s5"])
      #expect(
        try await all("subscriptions?\(place)&subscriber=bob", "subscriptions") {
          $0["subscription"]?["subscriptionID"]?.string
        } == ["s3", "s4", "s5"])
      #expect(
        try await all("subscriptions?\(place)&text=S4", "subscriptions") {
          $0["subscription"]?["subscriptionID"]?.string
        } == ["s4"])
      for user in [service.alice, service.bob] {
        _ = try await service.modify(
          Service.operation("create", "x"), in: "private", as: user)
      }
      #expect(
        try await all("databases?\(place)", "databases") {
          $0["userName"]?.string ?? $0["database"]?.string
        }.sorted() == ["alice", "bob", "public"])
    }
  }

  @Test("A subscription is saved for a user with a predicate, and what cannot be one is told")
  func subscriptions() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      _ = try await service.modify(Service.operation("create", "x", #""count": {"value": 1}"#))
      func save(_ predicate: String) async throws -> Answer {
        try await service.adminPost(
          "subscriptions/save",
          body([
            "subscriber": "alice", "predicate": .string(predicate),
            "subscription": [
              "subscriptionID": "mine", "subscriptionType": "query", "zoneWide": true,
              "firesOn": ["update"], "query": ["recordType": "Note"],
            ],
          ]), key: key)
      }
      let wrong = try await save("count >")
      #expect(wrong.failure == "400 BAD_REQUEST")
      #expect(wrong.reason.hasPrefix("body: 'predicate' cannot parse"), "\(wrong.reason)")
      #expect(try await save("count > now()").failure == "400 BAD_REQUEST")
      let part = try await service.adminPost(
        "subscriptions/save",
        body(["subscriber": "alice", "subscription": ["subscriptionID": 7]]), key: key)
      #expect(part.reason.hasPrefix("subscription: "), "the argument is named: \(part.reason)")
      #expect(try await save("count > 5").status == 200)
      let listed = try await service.get("public/subscriptions/list", as: service.alice)
      #expect(listed.items.count == 1)
      #expect(
        listed[0]["query"]?["filterBy"]?.array?.first?["comparator"] == "GREATER_THAN",
        "\(listed.json)")
      let deleted = try await service.adminPost(
        "subscriptions/delete", body(["subscriber": "alice", "subscriptionID": "mine"]), key: key)
      #expect(deleted.json["deleted"] == "mine")
      #expect(try await service.get("public/subscriptions/list", as: service.alice).items == [])
    }
  }

  @Test("A database that was never used takes a first subscription, and has none to delete")
  func firstSubscription() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let none = try await service.adminPost(
        "subscriptions/delete", body(["subscriber": "alice", "subscriptionID": "mine"]), key: key)
      #expect(none.failure == "404 NOT_FOUND")
      let saved = try await service.adminPost(
        "subscriptions/save",
        body([
          "subscriber": "alice",
          "subscription": [
            "subscriptionID": "mine", "subscriptionType": "query", "zoneWide": true,
            "firesOn": ["create"], "query": ["recordType": "Note"],
          ],
        ]), key: key)
      #expect(saved.status == 200, "\(saved.json)")
      #expect(
        try await service.get("public/subscriptions/list", as: service.alice).items.count == 1)
    }
  }

  @Test("The schema is shown, its differences to production too, and it is deployed")
  func schema() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      _ = try await service.modify(Service.operation("create", "x", #""count": {"value": 1}"#))
      let place = "container=\(Service.container)"
      let shown = try await service.adminGet("schema?\(place)", key: key)
      let note = shown.json["recordTypes"]?.array?.first { $0["recordType"] == "Note" }
      #expect(
        note?["fields"] == [
          ["name": "count", "type": "INT64", "indexes": ["QUERYABLE", "SORTABLE"]]
        ], "\(shown.json)")
      let differences = try await service.adminGet("schema/differences?\(place)", key: key)
      #expect(differences.json["changes"]?.array?.count == 1, "\(differences.json)")
      _ = try await service.adminPost("schema/deploy", body([:]), key: key)
      #expect(
        try await service.adminGet("schema/differences?\(place)", key: key).json["changes"] == [])
    }
  }

  @Test("Looking at a database that was never used does not make it")
  func looking() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let place = "container=iCloud.com.example.other&database=private&user=alice"
      for path in ["zones", "subscriptions", "pushes"] {
        #expect(try await service.adminGet("\(path)?\(place)", key: key).status == 200)
      }
      let answer = try await service.adminPost(
        "records/query", ["container": "iCloud.com.example.other", "recordType": "Note"], key: key)
      #expect(answer.status == 404, "\(answer.json)")
      #expect(try await service.adminGet("containers", key: key).json["containers"] == [])
    }
  }

  @Test("An event stream brings samples, and pushes as they are logged")
  func events() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await service.subscribe(
        #"""
        {"subscriptionID": "all", "subscriptionType": "query", "zoneWide": true,
         "firesOn": ["create"], "query": {"recordType": "Note"}}
        """#)
      let stream = try service.client.begin(
        "GET", "/admin/v1/events", headers: "Authorization: Bearer \(key)\r\n")
      let first = try await stream.text { $0.contains("event: sample") }
      #expect(first.contains("text/event-stream"))
      _ = try await service.modify(Service.operation("create", "seen"))
      let text = try await stream.text { $0.contains(#""recordName":"seen""#) }
      #expect(text.contains("event: pushes"))
      #expect(text.contains(#""leftOut":0"#))
      stream.abandon()
    }
  }

  @Test("A user is signed out, and an API token is made and revoked")
  func usersAndKeys() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let out = try await service.adminPost(
        "users/sign-out", ["user": "bob", "everywhere": true], key: key)
      #expect(out.json["sessions"] == 1)
      let made = try await service.adminPost(
        "keys/add-api-token", body(["name": "web", "origins": ["https://a.example"]]), key: key)
      let token = try #require(made.json["token"]?.string, "\(made.json)")
      let keys = try await service.adminGet("keys", key: key).json["keys"]?.array ?? []
      #expect(keys.map { $0["kind"]?.string } == ["admin", "apiToken"])
      #expect(keys[0]["isCurrent"] == true)
      for (container, kinds) in [(Service.container, ["apiToken"]), ("iCloud.other", [])] {
        let some = try await service.adminGet("keys?container=\(container)", key: key)
        #expect(some.json["keys"]?.array?.map { $0["kind"]?.string } == kinds, "\(container)")
      }
      let identifier = try #require(keys[1]["identifier"]?.string)
      #expect(!keys.contains { $0.text.contains(token) }, "the text is shown once")
      #expect(
        try await service.adminPost(
          "keys/revoke", ["identifier": .string(identifier)], key: key
        ).status == 200)
      #expect(
        try await service.adminPost(
          "keys/revoke", ["identifier": .string(identifier)], key: key
        ).failure == "404 NOT_FOUND")
      let bad = try await service.adminPost(
        "keys/add-api-token", body(["name": "web", "origins": ["nowhere"]]), key: key)
      #expect(bad.failure == "400 BAD_REQUEST")
    }
  }
}

struct LivePushesTests {
  private func entries(_ numbers: Range<Int>) -> [LogEntry] {
    let address = DatabaseAddress(
      container: "iCloud.a", environment: .development, scope: .public, owner: nil)
    return numbers.map { number in
      LogEntry(
        database: DatabaseID(rawValue: 1), sequence: Int64(number),
        notification: SubscriptionNotification(
          database: address, subscriber: "_a",
          subscription: Subscription(
            subscriptionID: "s", kind: .database(recordType: nil)),
          change: Change(
            event: .zoneCreated, zoneID: .default, record: nil, notificationID: UUID(),
            timestamp: .now)), logged: .now)
    }
  }

  @Test("A reader that is slow loses what there is no room for, and is told how much")
  func slowReader() throws {
    let pushes = LivePushes()
    let slow = try #require(pushes.beginReading())
    let quick = try #require(pushes.beginReading())
    pushes.add(entries(0..<150))
    #expect(pushes.nextBatch(for: quick)?.entries.count == 150)
    pushes.add(entries(150..<300))
    #expect(pushes.nextBatch(for: quick)?.leftOut == 0)
    let news = try #require(pushes.nextBatch(for: slow))
    #expect(news.entries.map(\.sequence) == (0..<Int64(LivePushes.limit)).map { $0 })
    #expect(news.leftOut == 300 - LivePushes.limit)
    #expect(pushes.nextBatch(for: slow)?.entries.isEmpty == true, "it begins anew")
  }

  @Test("The latest are remembered, and never many more")
  func memory() {
    let pushes = LivePushes()
    for start in stride(from: 0, to: 10_000, by: 100) { pushes.add(entries(start..<start + 100)) }
    #expect(pushes.latest.first?.sequence == 9_999)
    #expect(pushes.latest.count <= 2 * LivePushes.memory)
    pushes.add(entries(0..<5_000))
    #expect(pushes.latest.count <= 2 * LivePushes.memory)
  }

  @Test("There are no more readers than may be, and none when the server stops")
  func readers() throws {
    let pushes = LivePushes()
    let readers = (0..<LivePushes.readerLimit).map { _ in pushes.beginReading() }
    #expect(!readers.contains(nil))
    #expect(pushes.beginReading() == nil)
    let first = try #require(readers[0])
    pushes.endReading(first)
    let next = try #require(pushes.beginReading())
    pushes.close()
    #expect(pushes.nextBatch(for: next) == nil)
    #expect(pushes.beginReading() == nil)
  }
}
