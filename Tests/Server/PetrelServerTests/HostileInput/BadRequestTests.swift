import Foundation
import JSONCoding
import Testing

@testable import DatabaseAPI

struct BadRequestTests {
  /// A request of Alice's that is refused, and what the refusal says.
  struct Case: Sendable, CustomTestStringConvertible {
    var operation: String
    var body: String
    var failure = "400 BAD_REQUEST"
    var reason: String

    var testDescription: String { "\(operation) \(body.prefix(60))" }
  }

  @Test(
    "a body that is no message of the protocol",
    arguments: [
      Case(operation: "public/records/modify", body: "", reason: "'operations' is missing"),
      Case(
        operation: "public/records/modify", body: #"{"operations": ["#, reason: "not valid JSON"),
      Case(
        operation: "public/records/modify", body: String(repeating: "[", count: 100_000),
        reason: "not valid JSON"),
      Case(
        operation: "public/records/modify", body: "[]",
        reason: "the body must be a JSON object, not an array"),
      Case(
        operation: "public/records/query", body: #""text""#,
        reason: "the body must be a JSON object, not a string"),
      Case(operation: "public/records/modify", body: "{}", reason: "'operations' is missing"),
      Case(
        operation: "public/records/modify", body: #"{"operations": 5}"#,
        reason: "operations: must be an array, not a number"),
      Case(
        operation: "public/records/modify", body: #"{"operations": [], "atomic": "yes"}"#,
        reason: "atomic: must be true or false, not a string"),
      Case(
        operation: "public/records/modify", body: #"{"operations": [], "desiredKeys": [1]}"#,
        reason: "desiredKeys[0]: must be a string, not a number"),
      Case(
        operation: "public/records/modify", body: #"{"operations": [], "zoneID": 7}"#,
        reason: "zoneID: must be an object, not a number"),
      Case(operation: "public/records/lookup", body: "{}", reason: "'records' is missing"),
      Case(
        operation: "public/records/lookup", body: #"{"records": [{}]}"#,
        reason: "records[0]: 'recordName' is missing"),
      Case(operation: "public/records/query", body: "{}", reason: "'query' is missing"),
      Case(operation: "private/zones/modify", body: "{}", reason: "'operations' is missing"),
      Case(operation: "private/zones/lookup", body: "{}", reason: "'zones' is missing"),
      Case(operation: "public/subscriptions/modify", body: "{}", reason: "'operations' is missing"),
      Case(
        operation: "public/subscriptions/lookup", body: "{}", reason: "'subscriptions' is missing"),
      Case(operation: "tokens/create", body: "{}", reason: "'apnsEnvironment' is missing"),
    ])
  func broken(_ one: Case) async throws { try await check(one) }

  @Test(
    "a query against the rules",
    arguments: [
      (#"{"query": {}}"#, "query: 'recordType' is missing"),
      (
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "LIKE", "#
          + #""fieldName": "a", "fieldValue": {"value": 1}}]}}"#,
        "query.filterBy[0]: unknown comparator 'LIKE'"
      ),
      (
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "EQUALS", "#
          + #""fieldName": "a"}]}}"#, "query.filterBy[0]: 'fieldValue' is missing"
      ),
      (
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "EQUALS", "#
          + #""fieldValue": {"value": 1}}]}}"#, "query.filterBy[0]: 'fieldName' is missing"
      ),
      (
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "EQUALS", "#
          + #""systemFieldName": "size", "fieldValue": {"value": 1}}]}}"#,
        "unknown systemFieldName 'size'"
      ),
      (
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "NEAR", "fieldName": "p", "#
          + #""fieldValue": {"value": {"latitude": 0, "longitude": 0}}}]}}"#,
        "NEAR on 'p' needs a distance"
      ),
      (
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "NEAR", "fieldName": "p", "#
          + #""distance": 1, "fieldValue": {"value": {"latitude": 91, "longitude": 0}}}]}}"#,
        "latitude"
      ),
      (
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "BEGINS_WITH", "#
          + #""fieldName": "a", "fieldValue": {"value": 1}}]}}"#,
        "BEGINS_WITH on 'a' needs a string, not INT64"
      ),
      (
        #"{"query": {"recordType": "Note", "sortBy": [{"ascending": true}]}}"#,
        "query.sortBy[0]: 'fieldName' is missing"
      ),
      (#"{"query": {"recordType": "No te"}}"#, "'No te'"),
      (
        #"{"query": {"recordType": "Note"}, "resultsLimit": -1}"#,
        "resultsLimit: must not be negative"
      ),
      (#"{"query": {"recordType": "Note"}, "continuationMarker": "abc"}"#, "continuationMarker"),
    ])
  func queries(body: String, reason: String) async throws {
    try await check(Case(operation: "public/records/query", body: body, reason: reason))
  }

  @Test("a continuation marker of another query")
  func foreignMarker() async throws {
    try await withService { service in
      _ = try await service.modify(
        Service.operation("create", "a"), Service.operation("create", "b"))
      let page = try await service.post(
        "public/records/query", #"{"query": {"recordType": "Note"}, "resultsLimit": 1}"#,
        as: service.alice)
      let marker = try #require(page.json["continuationMarker"]?.string)
      let answer = try await service.post(
        "public/records/query",
        #"{"query": {"recordType": "Other"}, "continuationMarker": "\#(marker)"}"#,
        as: service.alice)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(answer.reason.contains("does not belong to this query"))
    }
  }

  @Test("a filter that does not fit the type of its field")
  func filterAgainstSchema() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n", #""rank": {"value": 1}"#))
      let answer = try await service.post(
        "public/records/query",
        #"{"query": {"recordType": "Note", "filterBy": [{"comparator": "EQUALS", "#
          + #""fieldName": "rank", "fieldValue": {"value": "one"}}]}}"#, as: service.alice)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(
        answer.reason.contains("EQUALS on 'rank' cannot compare a field of type INT64 with STRING"),
        "\(answer.reason)")
    }
  }

  @Test("a query in a zone that does not exist")
  func unknownZone() async throws {
    try await check(
      Case(
        operation: "private/records/query",
        body: #"{"query": {"recordType": "Note"}, "zoneID": {"zoneName": "Nowhere"}}"#,
        failure: "404 ZONE_NOT_FOUND", reason: "'Nowhere'"))
  }

  @Test(
    "more items than one request may have",
    arguments: [
      ("public/records/modify", "operations"), ("public/records/lookup", "records"),
      ("private/zones/modify", "operations"), ("private/zones/lookup", "zones"),
      ("public/subscriptions/modify", "operations"),
      ("public/subscriptions/lookup", "subscriptions"),
    ])
  func tooManyItems(operation: String, list: String) async throws {
    let items = Array(repeating: "{}", count: 401).joined(separator: ",")
    try await check(
      Case(
        operation: operation, body: #"{"\#(list)": [\#(items)]}"#,
        reason: "\(list): has 401 items; the limit is 400 per request"))
  }

  @Test("400 operations are carried out")
  func greatestRequest() async throws {
    try await withService { service in
      let operations = (0..<400).map { Service.operation("create", "n\($0)") }
      let answer = try await service.post(
        "public/records/modify", #"{"operations": [\#(operations.joined(separator: ","))]}"#,
        as: service.alice)
      #expect(answer.outcomes == Array(repeating: "ok", count: 400))
    }
  }

  @Test("a body over the limit")
  func bodyTooLarge() async throws {
    try await withService { service in
      let answer = try await service.post(
        "public/records/modify", String(repeating: " ", count: 8 << 20) + "{}",
        as: service.alice)
      #expect(answer.failure == "413 BAD_REQUEST")
      #expect(answer.reason.contains("\(8 << 20)"), "\(answer.reason)")
      #expect(answer.json["uuid"]?.string != nil)
    }
  }

  @Test(
    "a path that leads nowhere names the part that is wrong",
    arguments: [
      ("/", "404 NOT_FOUND", "no such path: /; expected /database/1/"),
      ("/favicon.ico", "404 NOT_FOUND", "no such path: /favicon.ico"),
      (
        "/database/2/iCloud.a/development/public/records/query", "400 BAD_REQUEST",
        "protocol version '2' is not supported; use 1"
      ),
      (
        "/database/1/com.example/development/public/records/query", "400 BAD_REQUEST",
        "container 'com.example' must begin with 'iCloud.'"
      ),
      (
        "/database/1/iCloud.a/staging/public/records/query", "400 BAD_REQUEST",
        "environment 'staging' must be development or production"
      ),
      (
        "/database/1/iCloud.a/development/secret/records/query", "400 BAD_REQUEST",
        "the database must be public, private or shared"
      ),
      (
        "/database/1/iCloud.a/development/public/records/explode", "404 NOT_FOUND",
        "no such operation: 'records/explode'; known are "
      ),
      (
        "/device/1/iCloud.a/development/records/query", "400 BAD_REQUEST",
        "records/query needs a database in its path"
      ),
    ])
  func paths(path: String, failure: String, reason: String) async throws {
    try await withService { service in
      let token = Service.escaped(service.alice.token)
      let answer = try await service.client.send(
        "POST", "\(path)?ckWebAuthToken=\(token)",
        body: Data(#"{"query": {"recordType": "Note"}}"#.utf8))
      #expect(answer.failure == failure)
      #expect(answer.reason.contains(reason), "\(answer.reason)")
    }
  }

  @Test("a method that the operation does not take", arguments: ["GET", "PUT", "DELETE"])
  func methods(method: String) async throws {
    try await withService { service in
      let answer = try await service.client.send(
        method, service.target("public/records/modify", as: service.alice))
      #expect(answer.failure == "405 BAD_REQUEST")
      #expect(answer.headers["allow"] == "POST")
      #expect(answer.reason == "records/modify takes POST, not \(method)")
    }
  }

  @Test("a body that is compressed, also that of an asset")
  func compressedBodies() async throws {
    try await withService { service in
      let asked = try await service.askForUpload(record: "n", field: "file")
      for target in [
        service.target("public/records/query", as: service.alice),
        try service.path(.string(asked.uploadURLs[0])),
      ] {
        let answer = try await service.client.send(
          "POST", target, headers: "Content-Encoding: gzip\r\n", body: Data([0x1F, 0x8B]))
        #expect(answer.failure == "400 BAD_REQUEST")
        #expect(
          answer.reason
            == "Content-Encoding: 'gzip' is not supported; send the body without a content encoding"
        )
      }
      _ = try await service.modify(Service.operation("create", "n"))
      let plain = try await service.client.send(
        "POST", service.target("public/records/query", as: service.alice),
        headers: "Content-Encoding: identity\r\n",
        body: Data(#"{"query": {"recordType": "Note"}}"#.utf8))
      #expect(plain.status == 200)
    }
  }

  @Test("a container that is not in the configuration")
  func unknownContainer() async throws {
    try await withService(.init(containers: [Service.container: .init()])) { service in
      let answer = try await service.client.send(
        "POST",
        "/database/1/iCloud.other/development/public/records/query?ckWebAuthToken="
          + Service.escaped(service.alice.token),
        body: Data(#"{"query": {"recordType": "Note"}}"#.utf8))
      #expect(answer.failure == "400 BAD_CONTAINER")
      #expect(answer.reason == "container 'iCloud.other' is not served here")
    }
  }

  @Test("an unknown web auth token")
  func unknownToken() async throws {
    try await withService { service in
      let nobody = TestUser(name: "nobody", recordName: "_x", token: "made+up/=")
      let answer = try await service.get("public/users/caller", as: nobody)
      #expect(answer.failure == "401 AUTHENTICATION_FAILED")
      #expect(answer.reason == "the web auth token is unknown to this server")
    }
  }

  @Test("a web auth token that has expired, also one that was in use until then")
  func expiredToken() async throws {
    try await withService { service in
      #expect(try await service.get("public/users/caller", as: service.alice).status == 200)
      service.clock.advance(bySeconds: Account.tokenLifetime)
      let answer = try await service.get("public/users/caller", as: service.alice)
      #expect(answer.failure == "401 AUTHENTICATION_FAILED")
      #expect(answer.reason.contains("expired at") && answer.reason.contains("sign in again"))
      service.clock.advance(bySeconds: -Account.tokenLifetime)
    }
  }

  @Test(
    "what needs a user is refused without one, before the body is looked at",
    arguments: [
      "public/records/modify", "private/records/modify", "private/records/query",
      "private/records/lookup", "shared/records/query", "private/zones/list",
      "private/zones/lookup", "private/zones/modify", "public/subscriptions/list",
      "public/subscriptions/lookup", "public/subscriptions/modify", "tokens/create",
      "tokens/register", "public/users/caller",
    ])
  func anonymous(operation: String) async throws {
    try await withService { service in
      let answer = try await service.post(operation, "{}", as: nil)
      #expect(answer.failure == "421 AUTHENTICATION_REQUIRED")
      let name = operation.hasPrefix("tokens") ? operation : operation.droppingDatabase
      #expect(
        answer.reason == "request needs authorization: \(name) needs a signed-in user, whose "
          + "token is sent as ckWebAuthToken in the query")
    }
  }

  private func check(_ one: Case) async throws {
    try await withService { service in
      let answer = try await service.post(one.operation, one.body, as: service.alice)
      #expect(answer.failure == one.failure, "\(answer.json)")
      #expect(answer.reason.contains(one.reason), "\(answer.reason)")
      #expect(answer.json["uuid"]?.string != nil)
      #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
    }
  }
}

extension String {
  fileprivate var droppingDatabase: String {
    split(separator: "/").dropFirst().joined(separator: "/")
  }
}
