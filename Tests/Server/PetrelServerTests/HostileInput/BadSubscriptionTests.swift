import Foundation
import JSONCoding
import Testing

struct BadSubscriptionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var title: String
    var subscription: String
    var database = "private"
    var code = "BAD_REQUEST"
    var reason: String

    var testDescription: String { title }
  }

  /// A query subscription with other members than usual.
  private static func query(
    _ more: String = "", id: String = "bad", firesOn: String = #"["create"]"#,
    query: String = #"{"recordType": "Note"}"#
  ) -> String {
    #"{"subscriptionType": "query", "subscriptionID": "\#(id)", "firesOn": \#(firesOn), "#
      + #""query": \#(query)\#(more)}"#
  }

  private static func info(_ members: String) -> String { #", "notificationInfo": {\#(members)}"# }

  private static func filter(_ members: String) -> String {
    #"{"recordType": "Note", "filterBy": [{\#(members)}]}"#
  }

  static let cases = [
    Case(
      title: "an empty ID", subscription: query(id: ""),
      reason: "subscriptionID must not be empty"),
    Case(
      title: "an ID over 255 bytes", subscription: query(id: String(repeating: "i", count: 256)),
      reason: "subscriptionID has 256 bytes; the limit is 255"),
    Case(
      title: "no firing event", subscription: query(firesOn: "[]"),
      reason: "subscription 'bad' fires on no event; choose create, update or delete"),
    Case(
      title: "an unknown event", subscription: query(firesOn: #"["change"]"#),
      reason: "firesOn 'change' must be create, update or delete"),
    Case(
      title: "an unknown kind",
      subscription: #"{"subscriptionType": "record", "subscriptionID": "bad"}"#,
      reason: "subscriptionType 'record' must be query, zone or database"),
    Case(
      title: "no kind", subscription: #"{"subscriptionID": "bad"}"#,
      reason: "operations[0].subscription: 'subscriptionType' is missing"),
    Case(
      title: "a query subscription without a query",
      subscription:
        #"{"subscriptionType": "query", "subscriptionID": "bad", "firesOn": ["create"]}"#,
      reason: "operations[0].subscription: 'query' is missing"),
    Case(
      title: "an unsupported comparator",
      subscription: query(
        query: filter(#""comparator": "MATCHES", "fieldName": "a", "fieldValue": {"value": 1}"#)),
      reason: "subscription.query.filterBy[0]: unknown comparator 'MATCHES'"),
    Case(
      title: "a comparator that does not go with its value",
      subscription: query(
        query: filter(#""comparator": "IN", "fieldName": "a", "fieldValue": {"value": 1}"#)),
      reason: "IN on 'a' needs a list, not INT64"),
    Case(
      title: "a filter that does not fit the type of its field",
      subscription: query(
        query: filter(#""comparator": "EQUALS", "fieldName": "rank", "fieldValue": {"value": "x"}"#)
      ),
      reason: "EQUALS on 'rank' cannot compare a field of type INT64 with STRING"),
    Case(
      title: "more than three desired keys",
      subscription: query(info(#""additionalFields": ["a", "b", "c", "d"]"#)),
      reason: "desiredKeys has 4 keys; the limit is 3"),
    Case(
      title: "a desired key that is no field name",
      subscription: query(info(#""additionalFields": ["a b"]"#)),
      reason: "desiredKeys: field name 'a b'"),
    Case(
      title: "a desired key of bytes", subscription: query(info(#""additionalFields": ["data"]"#)),
      reason: "subscription 'bad' has the desired key 'data' of type BYTES"),
    Case(
      title: "a desired key of a list", subscription: query(info(#""additionalFields": ["tags"]"#)),
      reason: "subscription 'bad' has the desired key 'tags' of type STRING_LIST"),
    Case(
      title: "a desired key of an asset",
      subscription: query(info(#""additionalFields": ["rank", "file"]"#)),
      reason: "subscription 'bad' has the desired key 'file' of type ASSETID"),
    Case(
      title: "a collapse ID over 64 bytes",
      subscription: query(info(#""collapseIDKey": "\#(String(repeating: "ü", count: 33))""#)),
      reason: "collapseIDKey has 66 bytes; the limit is 64"),
    Case(
      title: "a localisation argument that is no field name",
      subscription: query(info(#""alertLocalizationArgs": ["a.b"]"#)),
      reason: "alertLocalizationArgs: field name 'a.b'"),
    Case(
      title: "notification info that is no object",
      subscription: query(#", "notificationInfo": "hello""#),
      reason: "subscription.notificationInfo: must be an object, not a string"),
    Case(
      title: "desired keys on a record-zone subscription",
      subscription: #"{"subscriptionType": "zone", "subscriptionID": "bad", "#
        + #""zoneID": {"zoneName": "Z"}, "notificationInfo": {"additionalFields": ["rank"]}}"#,
      reason: "a record-zone subscription cannot have desiredKeys"),
    Case(
      title: "desired keys on a database subscription",
      subscription: #"{"subscriptionType": "database", "subscriptionID": "bad", "#
        + #""notificationInfo": {"additionalFields": ["rank"]}}"#,
      reason: "a database subscription cannot have desiredKeys"),
    Case(
      title: "a record-zone subscription of the default zone",
      subscription: #"{"subscriptionType": "zone", "subscriptionID": "bad", "#
        + #""zoneID": {"zoneName": "_defaultZone"}}"#,
      reason: "use a custom zone or a query subscription"),
    Case(
      title: "a record-zone subscription of no zone there is",
      subscription: #"{"subscriptionType": "zone", "subscriptionID": "bad", "#
        + #""zoneID": {"zoneName": "Nowhere"}}"#,
      code: "ZONE_NOT_FOUND", reason: "subscription 'bad' names zone 'Nowhere'"),
    Case(
      title: "a query subscription in no zone there is",
      subscription: query(#", "zoneID": {"zoneName": "Nowhere"}"#), code: "ZONE_NOT_FOUND",
      reason: "subscription 'bad' names zone 'Nowhere'"),
    Case(
      title: "a query subscription in the shared database", subscription: query(),
      database: "shared",
      reason: "a query subscription does not work in the shared database; "
        + "use a database subscription there"),
    Case(
      title: "a record-zone subscription in the public database",
      subscription: #"{"subscriptionType": "zone", "subscriptionID": "bad", "#
        + #""zoneID": {"zoneName": "Z"}}"#,
      database: "public",
      reason: "a record-zone subscription does not work in the public database; "
        + "use a query subscription there"),
    Case(
      title: "a record-zone subscription in the shared database",
      subscription: #"{"subscriptionType": "zone", "subscriptionID": "bad", "#
        + #""zoneID": {"zoneName": "Z"}}"#,
      database: "shared",
      reason: "a record-zone subscription does not work in the shared database; "
        + "use a database subscription there"),
    Case(
      title: "a database subscription in the public database",
      subscription: #"{"subscriptionType": "database", "subscriptionID": "bad"}"#,
      database: "public",
      reason: "a database subscription does not work in the public database; "
        + "use a query subscription there"),
  ]

  @Test("the item says what is wrong, and the others are saved", arguments: cases)
  func refused(_ one: Case) async throws {
    try await withService { service in
      try await service.makeZone("Z")
      let file = try await service.uploaded(
        Data("a".utf8), record: "n", field: "file", in: "private")
      let fields = """
        "rank": {"value": 1}, "data": {"value": "AAEC", "type": "BYTES"}, "tags": {"value": ["a"]},
        "file": {"value": \(file.text), "type": "ASSETID"}
        """
      let record = try await service.modify(
        Service.operation("create", "n", fields), in: "private")
      try #require(record.outcomes == ["ok"], "\(record.json)")
      let good =
        one.database == "shared"
        ? #"{"subscriptionType": "database", "subscriptionID": "good"}"# : Self.query(id: "good")
      let answer = try await service.post(
        "\(one.database)/subscriptions/modify",
        """
        {"operations": [{"operationType": "create", "subscription": \(one.subscription)},
                        {"operationType": "create", "subscription": \(good)}]}
        """, as: service.alice)
      #expect(answer.status == 200)
      #expect(answer.outcomes == [one.code, "ok"], "\(answer.json)")
      #expect(answer[0].reason.contains(one.reason), "\(answer[0].reason)")
      #expect(answer[0]["uuid"]?.string != nil)
      #expect(answer[0]["subscriptionID"]?.string != nil)
      let list = try await service.get("\(one.database)/subscriptions/list", as: service.alice)
      #expect(list.items.map { $0["subscriptionID"] } == ["good"])
    }
  }

  @Test(
    "each kind is saved in the databases it works in",
    arguments: [
      ("query", "public"), ("query", "private"), ("zone", "private"), ("database", "private"),
      ("database", "shared"),
    ])
  func accepted(kind: String, database: String) async throws {
    try await withService { service in
      try await service.makeZone("Z")
      let subscription =
        switch kind {
        case "query": Self.query(id: "s")
        case "zone":
          #"{"subscriptionType": "zone", "subscriptionID": "s", "zoneID": {"zoneName": "Z"}}"#
        default: #"{"subscriptionType": "database", "subscriptionID": "s"}"#
        }
      #expect(try await service.subscribe(subscription, in: database).outcome == "ok")
    }
  }

  @Test("a refused replacement leaves the subscription as it was")
  func keepsOld() async throws {
    try await withService { service in
      try await service.subscribe(Self.query(id: "s"))
      let refused = try await service.subscribe(Self.query(id: "s", firesOn: "[]"))
      #expect(refused.outcome == "BAD_REQUEST")
      let list = try await service.get("public/subscriptions/list", as: service.alice)
      #expect(list.items.map { $0["firesOn"] } == [["create"]])
    }
  }
}
