import CloudKitModel
import Foundation
import JSONCoding
import PostgreSQLTesting
import StoreModel
import Testing
import WebServices

@testable import PetrelServer

struct NULTests {
  /// Runs `body` with a server on SQLite, or on PostgreSQL, whose texts cannot have it.
  private func withService(
    onPostgreSQL: Bool, _ body: (Service) async throws -> Void
  ) async throws {
    guard onPostgreSQL else {
      return try await PetrelServerTests.withService(ServiceSettings(), body)
    }
    let schema = try await PostgreSQLServer.shared.makeSchema()
    try await PetrelServerTests.withService(
      ServiceSettings(postgreSQL: schema.address), body)
    try await PostgreSQLServer.shared.drop(schema)
  }

  /// A body that an endpoint takes, and the places in it of texts that may have any character.
  private struct Sample {
    var operation: String
    var body: String
    var free: Set<String> = []
  }

  private static let samples = [
    Sample(
      operation: "private/records/modify",
      body: """
        {"operations": [{"operationType": "create", "record": {"recordName": "a",
          "recordType": "Note", "zoneID": {"zoneName": "_defaultZone", "ownerRecordName": "_x"},
          "recordChangeTag": "1", "parent": {"recordName": "p", "action": "NONE"},
          "fields": {"title": {"value": "t", "type": "STRING"},
            "tags": {"value": ["t"], "type": "STRING_LIST"},
            "link": {"value": {"recordName": "b", "action": "NONE",
              "zoneID": {"zoneName": "_defaultZone"}}, "type": "REFERENCE"}}}}],
         "zoneID": "_defaultZone", "desiredKeys": ["title"], "requestID": "r"}
        """,
      free: [
        "operations.0.record.fields.title.value", "operations.0.record.fields.tags.value.0",
      ]),
    Sample(
      operation: "private/records/lookup",
      body: """
        {"records": [{"recordName": "a", "zoneID": {"zoneName": "z"}}, "b"], "desiredKeys": ["k"],
         "zoneID": {"zoneName": "z"}}
        """),
    Sample(
      operation: "public/records/query",
      body: """
        {"query": {"recordType": "Note", "filterBy": [
           {"comparator": "EQUALS", "fieldName": "title", "fieldValue": {"value": "t"}},
           {"comparator": "EQUALS", "systemFieldName": "recordName", "fieldValue": {"value": "t"}},
           {"comparator": "IN", "systemFieldName": "createdUserRecordName",
            "fieldValue": {"value": ["t"], "type": "STRING_LIST"}},
           {"comparator": "BEGINS_WITH", "fieldName": "___recordID", "fieldValue": {"value": "t"}},
           {"comparator": "EQUALS", "systemFieldName": "modifiedUserRecordName",
            "fieldValue": {"value": {"recordName": "t"}, "type": "REFERENCE"}}],
         "sortBy": [{"fieldName": "title"}]},
         "zoneID": {"zoneName": "z"}, "continuationMarker": "m", "desiredKeys": ["k"]}
        """, free: ["query.filterBy.0.fieldValue.value"]),
    Sample(
      operation: "private/records/changes",
      body: #"{"zoneID": {"zoneName": "z"}, "syncToken": "s", "desiredKeys": ["k"]}"#),
    Sample(operation: "private/changes/database", body: #"{"syncToken": "s"}"#),
    Sample(
      operation: "private/changes/zone",
      body: """
        {"zones": [{"zoneID": {"zoneName": "z"}, "syncToken": "s", "desiredKeys": ["k"],
          "desiredRecordTypes": ["T"]}]}
        """),
    Sample(operation: "private/zones/changes", body: #"{"metaSyncToken": "s"}"#),
    Sample(
      operation: "private/zones/modify",
      body: """
        {"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "z",
          "ownerRecordName": "_x"}}}]}
        """),
    Sample(
      operation: "private/zones/lookup",
      body: #"{"zones": [{"zoneID": {"zoneName": "z"}}, {"zoneName": "y"}, "x"]}"#),
    Sample(
      operation: "private/assets/upload",
      body: """
        {"zoneID": {"zoneName": "_defaultZone"},
         "tokens": [{"recordName": "a", "recordType": "Note", "fieldName": "file"}]}
        """),
    Sample(
      operation: "private/assets/rereference",
      body: """
        {"zoneID": {"zoneName": "_defaultZone"},
         "assets": [{"recordName": "a", "fieldName": "file"}]}
        """),
    Sample(
      operation: "public/subscriptions/modify",
      body: """
        {"operations": [{"operationType": "create", "subscription": {"subscriptionType": "query",
          "subscriptionID": "s", "firesOn": ["create"], "query": {"recordType": "Note",
            "filterBy": [{"comparator": "EQUALS", "fieldName": "title",
              "fieldValue": {"value": "t"}}]},
          "notificationInfo": {"alertBody": "a", "title": "t", "alertLocalizationArgs": ["l"],
            "soundName": "s", "category": "c", "desiredKeys": ["title"],
            "collapseIDKey": "k"}}},
         {"operationType": "delete", "subscription": {"subscriptionID": "d"}}]}
        """,
      free: Set(
        [
          "query.filterBy.0.fieldValue.value", "notificationInfo.alertBody",
          "notificationInfo.title", "notificationInfo.alertLocalizationArgs.0",
          "notificationInfo.soundName", "notificationInfo.category",
        ].map { "operations.0.subscription." + $0 })),
    Sample(
      operation: "public/subscriptions/lookup",
      body: #"{"subscriptions": [{"subscriptionID": "s"}, "t"]}"#),
    Sample(
      operation: "tokens/create",
      body: #"{"apnsEnvironment": "development", "clientId": "c"}"#),
    Sample(
      operation: "tokens/register",
      body:
        #"{"apnsEnvironment": "development", "apnsToken": "00112233445566778899aabbccddeeff", "clientId": "c"}"#
    ),
    Sample(operation: "notifications/changes", body: #"{"syncToken": "s"}"#),
    Sample(
      operation: "notifications/markRead",
      body: #"{"notifications": [{"notificationID": "n"}]}"#),
    Sample(
      operation: "public/users/discover",
      body: """
        {"lookupInfos": [{"emailAddress": "a@example.com"}, {"phoneNumber": "1"},
          {"userRecordName": "_x"}]}
        """),
    Sample(
      operation: "public/users/lookup/email", body: #"{"users": [{"emailAddress": "a@b.c"}]}"#),
    Sample(operation: "public/users/lookup/id", body: #"{"users": [{"userRecordName": "_x"}]}"#),
  ]

  @Test(
    "are refused by each endpoint wherever a name or an ID stands, and taken where a value does",
    arguments: [false, true])
  func protocolTexts(onPostgreSQL: Bool) async throws {
    try await withService(onPostgreSQL: onPostgreSQL) { service in
      for sample in Self.samples {
        let body = try JSONValue(parsing: Data(sample.body.utf8))
        for place in body.texts {
          let mark: Comment = "\(sample.operation) \(place)"
          let answer = try await service.post(
            sample.operation, body.withNUL(at: place[...]).text, as: service.alice)
          let refusals =
            ([answer.json] + answer.items).filter { $0.errorCode != nil }
          #expect(!refusals.contains { $0.errorCode == "INTERNAL_ERROR" }, mark)
          let isNamed = refusals.contains {
            $0.errorCode == "BAD_REQUEST" && $0.reason.contains("U+0000")
          }
          #expect(isNamed != sample.free.contains(place.joined(separator: ".")), mark)
        }
      }
    }
  }

  @Test("are refused in what names fields, and in paths and queries", arguments: [false, true])
  func otherPlaces(onPostgreSQL: Bool) async throws {
    try await withService(onPostgreSQL: onPostgreSQL) { service in
      let field = try await service.modify(
        Service.operation("create", "a", #""ti\u0000tle": {"value": 1}"#))
      #expect(field.outcomes == ["BAD_REQUEST"])
      #expect(field[0].reason.contains("must begin with a letter and hold only letters"))
      let target = service.target("public/records/query", as: service.alice)
      let query = Data(#"{"query": {"recordType": "Note"}}"#.utf8)
      for (wrong, reason) in [
        (target + "&clientId=a%00b", "clientId: must not have the character U+0000"),
        (
          target.replacingOccurrences(of: Service.container, with: "iCloud.com.%00"),
          "the path must not have the character U+0000"
        ),
      ] {
        let answer = try await service.client.send("POST", wrong, body: query)
        #expect(answer.failure == "400 BAD_REQUEST")
        #expect(answer.reason == reason)
      }
      for token in ["ckWebAuthToken", "ckAPIToken", "ckSession"] {
        let answer = try await service.client.send(
          "POST", service.target("public/records/query", as: nil) + "\(token)=a%00b", body: query)
        #expect(answer.status < 500, "\(token): \(answer.json)")
      }
      let courier = try await service.client.send("GET", "/aps?tok=a%00b")
      #expect(courier.status == 400)
      let upload = try await service.client.send("POST", "/assets/1/upload/a%00b")
      #expect(upload.failure == "404 NOT_FOUND")
      let download = try await service.client.send(
        "GET", "/assets/1/a%00b?expires=1&signature=a%00b")
      #expect((400..<500).contains(download.status))
    }
  }

  @Test("are refused by the admin API", arguments: [false, true])
  func admin(onPostgreSQL: Bool) async throws {
    try await withService(onPostgreSQL: onPostgreSQL) { service in
      let key = try await service.addAdminKey()
      for path in [
        "users?text=%00", "users/one?user=%00", "records?container=iCloud.a&user=a%00",
        "records?container=iCloud.a&recordType=%00", "zones?container=iCloud.%00",
        "subscriptions?container=iCloud.a&subscriber=%00", "devices?user=%00",
      ] {
        let answer = try await service.adminGet(path, key: key)
        #expect((400..<500).contains(answer.status), "\(path): \(answer.status) \(answer.json)")
      }
      let place: [String: JSONValue] = ["container": .string(Service.container)]
      for (path, arguments) in [
        ("users/add", ["name": "a\0b"]),
        ("users/password", ["user": "a\0", "password": "12345678"]),
        ("keys/add-admin-key", ["label": "\0"]), ("keys/revoke", ["identifier": "\0"]),
        ("keys/add-api-token", ["name": "\0"]),
      ] as [(String, [String: JSONValue])] {
        let answer = try await service.adminPost(
          path, .object(arguments.merging(place) { first, _ in first }), key: key)
        #expect((400..<500).contains(answer.status), "\(path): \(answer.status) \(answer.json)")
      }
      let named = try await service.adminPost("users/add", ["name": "a\0b"], key: key)
      #expect(named.reason == "body: 'name' must not have the character U+0000")
    }
  }

  @Test("are kept and found in a record's own values", arguments: [false, true])
  func values(onPostgreSQL: Bool) async throws {
    try await withService(onPostgreSQL: onPostgreSQL) { service in
      let saved = try await service.modify(
        Service.operation(
          "create", "a",
          #""title": {"value": "one\u0000two words"}, "tags": {"value": ["\u0000", "x"]}"#))
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      let found = try await service.lookup("a")
      #expect(found[0].field("title") == .string("one\0two words"))
      #expect(found[0].field("tags") == .array([.string("\0"), .string("x")]))
      for filter in [
        #""EQUALS", "fieldName": "title", "fieldValue": {"value": "one\u0000two words"}"#,
        #""BEGINS_WITH", "fieldName": "title", "fieldValue": {"value": "one\u0000"}"#,
        #""CONTAINS_ALL_TOKENS", "fieldName": "title", "fieldValue": {"value": "words"}"#,
        #""LIST_CONTAINS", "fieldName": "tags", "fieldValue": {"value": "\u0000"}"#,
      ] {
        let page = try await service.post(
          "public/records/query",
          #"{"query": {"recordType": "Note", "filterBy": [{"comparator": \#(filter)}]}}"#,
          as: service.alice)
        #expect(page.items.map(\.name) == ["a"], "\(filter): \(page.json)")
      }
    }
  }

  @Test("that came past all that are no internal error")
  func net() async throws {
    try await withService(onPostgreSQL: true) { service in
      let error = await #expect(throws: StoreError.self) {
        _ = try await service.store.accounts.user(named: "a\0b")
      }
      #expect(error?.code == .unkeptText)
      #expect(error?.reason.hasPrefix("the text 'a␀b' has the character U+0000") == true)
      let failure = ServiceError(any: try #require(error))
      #expect(failure.code == .badRequest)
      // The connection is as good as before, and so are the writes that shared the transaction.
      await #expect(throws: StoreError.self) {
        _ = try await service.store.accounts.addUser(named: "\0", at: .now)
      }
      _ = try await service.store.accounts.addUser(named: "carol", at: .now)
    }
  }
}

extension JSONValue {
  /// The places of all texts.
  fileprivate var texts: [[String]] {
    switch self {
    case .string: [[]]
    case .array(let elements):
      elements.enumerated().flatMap { index, element in element.texts.map { ["\(index)"] + $0 } }
    case .object(let members):
      members.sorted { $0.key < $1.key }.flatMap { name, value in value.texts.map { [name] + $0 } }
    default: []
    }
  }

  /// The value with the character at the end of one of its texts.
  fileprivate func withNUL(at place: ArraySlice<String>) -> JSONValue {
    switch self {
    case .string(let text): return .string(text + "\0")
    case .array(var elements):
      guard let index = place.first.flatMap({ Int($0) }) else { return self }
      elements[index] = elements[index].withNUL(at: place.dropFirst())
      return .array(elements)
    case .object(var members):
      guard let name = place.first, let member = members[name] else { return self }
      members[name] = member.withNUL(at: place.dropFirst())
      return .object(members)
    default: return self
    }
  }
}
