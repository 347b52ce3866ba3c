import Foundation
import HTTPService
import JSONCoding
import PropertyTesting
import StoreModel
import Testing
import WebServices

@testable import Configuration
@testable import Storage

/// Every row of the protocol's table of errors, each from a real cause.
struct ErrorTableTests {
  /// Checks the error of a whole request: status, code, and what every error object has.
  private func check(_ answer: Answer, _ failure: String, _ reason: String) {
    #expect(answer.failure == failure, "\(answer.json)")
    #expect(answer.reason.contains(reason), "\(answer.reason)")
    #expect(answer.json["uuid"]?.string.flatMap { UUID(uuidString: $0) } != nil)
    #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
  }

  /// Checks the error of an item: the code, what it is about, and what every error object has.
  private func check(_ item: JSONValue, _ code: String, _ reason: String) {
    #expect(item["serverErrorCode"]?.string == code, "\(item)")
    #expect(item.reason.contains(reason), "\(item.reason)")
    #expect(item["uuid"]?.string.flatMap { UUID(uuidString: $0) } != nil)
    #expect(item["recordName"] != nil || item["zoneID"] != nil || item["subscriptionID"] != nil)
  }

  @Test("ACCESS_DENIED: 403 for a download URL of no more use, an item for another's record")
  func accessDenied() async throws {
    try await withService { service in
      let database = try service.store.secrets.tokens.name(of: DatabaseID(rawValue: 1))
      let answer = try await service.client.send(
        "GET", "/assets/\(database)/c0ffee?expires=1&signature=AAAA")
      check(answer, "403 ACCESS_DENIED", "was not made by this server")
      _ = try await service.modify(Service.operation("create", "a"))
      let item = try await service.modify(
        Service.operation("forceUpdate", "a"), as: service.bob)
      #expect(item.status == 200)
      check(item[0], "ACCESS_DENIED", "record 'a in _defaultZone' cannot be changed")
    }
  }

  @Test("ATOMIC_ERROR: an item for what was left because another item failed")
  func atomicError() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let answer = try await service.modify(
        Service.operation("create", "a", zone: "Notes"),
        Service.operation("update", "b", tag: "1", zone: "Notes"), in: "private")
      #expect(answer.status == 200)
      check(answer[0], "ATOMIC_ERROR", "record 'a in Notes'")
      check(answer[1], "NOT_FOUND", "there is no record 'b in Notes'")
    }
  }

  @Test("AUTHENTICATION_FAILED: 401 for a token that is not known")
  func authenticationFailed() async throws {
    try await withService { service in
      let stranger = TestUser(name: "x", recordName: "_x", token: "made up")
      check(
        try await service.get("public/users/caller", as: stranger),
        "401 AUTHENTICATION_FAILED", "is unknown to this server")
    }
  }

  @Test("AUTHENTICATION_REQUIRED: 421 with the place to sign in for what needs a user")
  func authenticationRequired() async throws {
    try await withService { service in
      check(
        try await service.get("private/zones/list", as: nil),
        "421 AUTHENTICATION_REQUIRED", "request needs authorization")
    }
  }

  @Test("BAD_REQUEST: 400 for a broken body, an item for a broken item")
  func badRequest() async throws {
    try await withService { service in
      check(
        try await service.post("public/records/query", "{", as: service.alice),
        "400 BAD_REQUEST", "not valid JSON")
      let item = try await service.modify(
        Service.operation("create", "a", #""f": {"value": 1, "type": "STRING"}"#))
      check(item[0], "BAD_REQUEST", "operations[0].record.fields.f")
    }
  }

  @Test("CONFLICT: 409 for an upload URL of another file, an item for an old change tag")
  func conflict() async throws {
    try await withService { service in
      let answer = try await service.post(
        "public/assets/upload",
        #"{"tokens": [{"recordName": "a", "recordType": "Note", "fieldName": "file"}]}"#,
        as: service.alice)
      let url = try #require(answer.json["tokens"]?.array?.first?["url"]?.string)
      let path = try #require(URLComponents(string: url)?.path)
      _ = try await service.client.send("POST", path, body: Data("one".utf8))
      check(
        try await service.client.send("POST", path, body: Data("two".utf8)),
        "409 CONFLICT", "used for another file")
      _ = try await service.modify(Service.operation("create", "a"))
      let item = try await service.modify(Service.operation("update", "a", tag: "0"))
      check(item[0], "CONFLICT", "client oplock error updating record")
      check(item[0], "CONFLICT", "has the change tag '0'")
      #expect(item[0]["serverRecord"]?.name == "a")
    }
  }

  @Test("EXISTS: an item for a record that is there")
  func exists() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "a"))
      let item = try await service.modify(Service.operation("create", "a"))
      check(item[0], "EXISTS", "record to insert already exists")
    }
  }

  @Test("INTERNAL_ERROR: 500 for a store that is broken; the cause is in the log alone")
  func internalError() async throws {
    let lines = LogLines()
    try await withService(ServiceSettings(log: lines.log)) { service in
      try await service.makeZone("Z")
      _ = try await service.store.transactions.write {
        try $0.connection.run("DROP TABLE zones", [])
      }
      let answer = try await service.get("private/zones/list", as: service.alice)
      check(answer, "500 INTERNAL_ERROR", "see the server's log")
      #expect(!answer.reason.contains("zones"))
      let uuid = try #require(answer.json["uuid"]?.string)
      let line = try #require(lines.containing(uuid).first)
      #expect(line.hasPrefix("error") && line.contains("no such table"), "\(line)")
    }
  }

  @Test("NOT_FOUND: 404 for a path, an item for a record")
  func notFound() async throws {
    try await withService { service in
      check(
        try await service.client.send("GET", "/nowhere"), "404 NOT_FOUND", "no such path: /nowhere")
      check(
        try await service.lookup("a")[0], "NOT_FOUND", "record 'a in _defaultZone' does not exist")
    }
  }

  @Test("QUOTA_EXCEEDED: 413 for an upload, an item for a record")
  func quotaExceeded() async throws {
    var limits = ServerConfiguration.Limits()
    limits.privateDatabaseBytes = 1
    try await withService(ServiceSettings(limits: limits)) { service in
      let item = try await service.modify(Service.operation("create", "a"), in: "private")
      check(item[0], "QUOTA_EXCEEDED", "its quota is 1")
      let token = #"{"recordType": "Note", "fieldName": "file"}"#
      let answer = try await service.post(
        "private/assets/upload", #"{"tokens": [\#(token)]}"#, as: service.alice)
      let url = try #require(answer.json["tokens"]?.array?.first?["url"]?.string)
      check(
        try await service.client.send(
          "POST", try #require(URLComponents(string: url)?.path), body: Data(count: 2)),
        "413 QUOTA_EXCEEDED", "exceeds the quota")
    }
  }

  @Test("THROTTLED: 429 with the seconds to wait for too many requests")
  func throttled() async throws {
    var limits = ServerConfiguration.Limits()
    limits.requestRates = [.user: RequestRate(perSecond: 0.5, burst: 1)]
    try await withService(ServiceSettings(limits: limits)) { service in
      _ = try await service.get("public/users/caller", as: service.alice)
      let answer = try await service.get("public/users/caller", as: service.alice)
      check(answer, "429 THROTTLED", "too many requests")
      let wait = try #require(answer.json["retryAfter"]?.double)
      #expect(wait > 0)
      #expect(answer.headers["retry-after"] != nil)
      service.clock.advance(bySeconds: 2)
    }
  }

  @Test("TRY_AGAIN_LATER: 503 with the seconds to wait for a queue that is full")
  func tryAgainLater() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "a"))
      try await service.restart { $0.waitingWrites = 0 }
      let answer = try await service.modify(Service.operation("create", "b"))
      check(answer, "503 TRY_AGAIN_LATER", "too many writes are waiting")
      #expect(answer.json["retryAfter"]?.double == 1)
      #expect(answer.headers["retry-after"] == "1")
    }
  }

  @Test("VALIDATING_REFERENCE_ERROR: an item for a target that is not there")
  func validatingReference() async throws {
    try await withService { service in
      let item = try await service.modify(
        Service.operation(
          "create", "a",
          #""r": {"value": {"recordName": "b", "action": "VALIDATE"}, "type": "REFERENCE"}"#))
      check(item[0], "VALIDATING_REFERENCE_ERROR", "which does not exist")
    }
  }

  @Test("ZONE_NOT_FOUND: 404 for a query, an item for a zone")
  func zoneNotFound() async throws {
    try await withService { service in
      check(
        try await service.post(
          "private/records/query",
          #"{"query": {"recordType": "Note"}, "zoneID": {"zoneName": "Z"}}"#, as: service.alice),
        "404 ZONE_NOT_FOUND", "'Z'")
      let answer = try await service.post(
        "private/zones/lookup", #"{"zones": [{"zoneName": "Z"}]}"#, as: service.alice)
      check(answer[0], "ZONE_NOT_FOUND", "there is no zone 'Z'")
    }
  }

  @Test("every code has the status of the table")
  func statuses() {
    let table: [(ServerErrorCode, Int)] = [
      (.accessDenied, 403), (.atomicError, 400), (.authenticationFailed, 401),
      (.authenticationRequired, 421), (.badRequest, 400), (.conflict, 409), (.exists, 409),
      (.internalError, 500), (.notFound, 404), (.quotaExceeded, 413), (.throttled, 429),
      (.tryAgainLater, 503), (.validatingReferenceError, 412), (.zoneNotFound, 404),
      (.uniqueFieldError, 409),
    ]
    for (code, status) in table {
      #expect(code.httpStatus == status, "\(code)")
      #expect(HTTPResponse(ServiceError(code, "")).status == status)
    }
  }

  // MARK: Bodies and methods that nobody sends

  @Test(
    "bytes that are no JSON of the protocol",
    arguments: [
      Data([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]), Data([0xC0, 0x80]),
      Data([0xED, 0xA0, 0x80]),
      Data(#"{"query": {"recordType": "Note"}} x"#.utf8), Data(#"{"resultsLimit": 1e999}"#.utf8),
      Data(#"{"a": "\ud800"}"#.utf8), Data([0x7B, 0x00, 0x7D]),
      Data((String(repeating: #"{"query":"#, count: 3000)).utf8),
    ])
  func brokenBytes(_ body: Data) async throws {
    try await withService { service in
      let answer = try await service.client.send(
        "POST", service.target("public/records/query", as: service.alice), body: body)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(!answer.reason.isEmpty)
    }
  }

  @Test("random bytes in the place of a body never break the server")
  func randomBytes() async throws {
    try await withService { service in
      var random = SeededGenerator(seed: 7)
      let valid = Data(
        (#"{"operations": ["# + Service.operation("forceUpdate", "a", #""f": {"value": [1, 2.5]}"#)
          + "]}").utf8)
      for round in 0..<200 {
        var body = valid
        for _ in 0...Int.random(in: 0..<4, using: &random) {
          let place = Int.random(in: 0..<body.count, using: &random)
          body[place] = UInt8.random(in: 0...255, using: &random)
        }
        let answer = try await service.client.send(
          "POST", service.target("public/records/modify", as: service.alice), body: body)
        #expect([200, 400].contains(answer.status), "seed 7, round \(round): \(answer.json)")
      }
    }
  }

  @Test("numbers that do not fit are named with their place")
  func numbers() async throws {
    try await withService { service in
      for number in ["99999999999999999999", "1.5", "-99999999999999999999"] {
        let answer = try await service.modify(
          Service.operation("create", "a", #""f": {"value": \#(number), "type": "INT64"}"#))
        check(answer[0], "BAD_REQUEST", "operations[0].record.fields.f")
      }
      let answer = try await service.post(
        "public/records/query",
        #"{"query": {"recordType": "Note"}, "resultsLimit": 99999999999999999999}"#,
        as: service.alice)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(answer.reason.contains("resultsLimit: must be a whole number"), "\(answer.reason)")
    }
  }

  @Test("HEAD is answered as GET, without the body, and refused where GET is")
  func head() async throws {
    try await withService { service in
      let get = try await service.get("public/users/caller", as: service.alice)
      let head = try await service.client.send(
        "HEAD", service.target("public/users/caller", as: service.alice))
      #expect(head.status == 200 && head.body.isEmpty)
      #expect(head.headers["content-length"] == get.headers["content-length"])
      let path = try await service.makeReader(as: service.alice)
      for (target, allowed) in [
        (service.target("public/records/modify", as: service.alice), "POST"), (path, "GET"),
      ] {
        let refused = try await service.client.send("HEAD", target)
        #expect(refused.status == 405 && refused.body.isEmpty)
        #expect(refused.headers["allow"] == allowed)
      }
      for method in ["PUT", "TRACE", "PATCH", "BREW"] {
        let refused = try await service.client.send(
          method, service.target("public/users/caller", as: service.alice))
        check(refused, "405 BAD_REQUEST", "not \(method)")
        #expect(refused.headers["allow"] == "GET, HEAD, POST")
      }
    }
  }
}
