import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import Testing

@testable import DatabaseAPI

struct ServerKeyTests {
  private static let query = #"{"query": {"recordType": "Note"}}"#

  private static func operations(_ operation: String) -> String {
    #"{"operations": [\#(operation)]}"#
  }

  @Test("A program that signs its requests saves, queries and subscribes, under a name of its own")
  func works() async throws {
    try await withService { service in
      // The web app's token is of no concern to programs.
      _ = try await service.addAPIToken(origins: ["https://app.example.com"])
      let client = try await ServerKeyClient(service)
      let saved = try await client.post(
        "public/records/modify",
        Self.operations(Service.operation("create", "n", #""title": {"value": "Milk"}"#)))
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      #expect(saved[0]["created"]?["userRecordName"]?.string == client.key.userRecordName)
      #expect(client.key.userRecordName != service.alice.recordName)
      #expect(
        client.key.userRecordName.wholeMatch(of: /_[0-9a-f]{32}/) != nil
          && client.key.keyID.wholeMatch(of: /[0-9a-f]{64}/) != nil)
      let found = try await client.post("public/records/query", Self.query)
      #expect(found[0].field("title")?.string == "Milk")
      let foreign = try await service.modify(
        Service.operation("update", "n", #""title": {"value": "x"}"#, tag: saved[0].tag))
      #expect(foreign.outcomes == ["ACCESS_DENIED"])
      let own = try await client.post(
        "public/records/modify",
        Self.operations(
          Service.operation("update", "n", #""title": {"value": "Tea"}"#, tag: saved[0].tag)))
      #expect(own.outcomes == ["ok"])
    }
  }

  @Test("Its subscriptions are its own, and its web courier gets their notifications")
  func subscriptions() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      let made = try await client.post(
        "public/subscriptions/modify",
        #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "s", "subscriptionType": "query", "query": {"recordType": "Note"}, "firesOn": ["create"]}}]}"#
      )
      #expect(made.outcomes == ["ok"], "\(made.json)")
      let list = try await client.send(
        try client.request("public/subscriptions/list", "", method: "GET"))
      #expect(list[0]["subscriptionID"]?.string == "s")
      #expect(try await service.get("public/subscriptions/list", as: service.alice).items == [])
      let token = try await client.post("tokens/create", #"{"apnsEnvironment": "development"}"#)
      let url = try #require(token.json["webcourierURL"]?.string, "\(token.json)")
      _ = try await service.modify(Service.operation("create", "n"))
      let path = try #require(url.range(of: "/aps?").map { String(url[$0.lowerBound...]) })
      let note = try await service.poll(path)
      #expect(note.json["ck"]?["qry"]?["sid"]?.string == "s")
    }
  }

  @Test("For an absent body both forms are taken: an empty text, and the hash of no bytes")
  func emptyBodies() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      for (hash, status) in [
        ("", 200), ("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", 200), ("abc", 401),
      ] {
        for method in ["GET", "POST"] {
          let request = try client.request(
            "public/subscriptions/list", "", method: method, bodyHash: hash)
          #expect(try await client.send(request).status == status, "\(method) '\(hash)'")
        }
      }
      let body = try client.request("public/records/query", Self.query, bodyHash: "")
      #expect(try await client.send(body).failure == "401 AUTHENTICATION_FAILED")
    }
  }

  @Test(
    "What a key may not do is denied",
    arguments: [
      "private/records/query", "shared/records/query", "private/zones/list",
      "public/users/discover", "public/users/lookup/id", "public/users/permissions",
      "public/records/resolve", "public/records/accept", "public/records/requestAccess",
    ])
  func access(_ operation: String) async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      let answer = try await client.post(operation, "{}")
      #expect(answer.failure == "403 ACCESS_DENIED", "\(answer.json)")
    }
  }

  @Test("A request that is not signed as it should be is refused, saying what is wrong")
  func refusals() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      let stranger = try await ServerKeyClient(service)
      func refused(
        _ expected: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout ServerKeyClient.Request) throws -> Void
      ) async throws {
        var request = try client.request("public/records/query", Self.query)
        try change(&request)
        let answer = try await client.send(request)
        #expect(answer.failure == "401 AUTHENTICATION_FAILED", sourceLocation: sourceLocation)
        #expect(
          answer.reason.contains(expected), "\(answer.reason)", sourceLocation: sourceLocation)
      }
      try await refused("KeyID: is missing") { $0.keyID = nil }
      try await refused("ISO8601Date: is missing") { $0.date = nil }
      try await refused("SignatureV1: is missing") { $0.signature = nil }
      try await refused("not known") { $0.keyID = String(repeating: "0", count: 64) }
      try await refused("'yesterday' is not a date") { $0.date = "yesterday" }
      try await refused("is not an ECDSA signature") { $0.signature = Data([1, 2, 3]) }
      try await refused("is not an ECDSA signature") { $0.signature = Data(try $0.rawSignature) }
      try await refused("is not an ECDSA signature") { $0.signature?.append(0) }
      try await refused("signature is not valid") { $0.keyID = stranger.key.keyID }
      try await refused("signature is not valid") { $0.body += " " }
      try await refused("signature is not valid") { $0.body = "" }
      try await refused("signature is not valid") {
        $0.target = $0.target.replacing("query?", with: "lookup?")
      }
      try await refused("signature is not valid") {
        $0.date = $0.date?.replacing("Z", with: "+00:00")
      }
      // The reason contains the message that should have been signed.
      try await refused(":\(try ServerKeyClient.hash(Self.query)):/database/1/") {
        $0.signature = try client.sign("another message")
      }
    }
  }

  @Test("A client that signs the query as well may, and then that cannot be changed")
  func signedQuery() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      _ = try await service.modify(Service.operation("create", "n"))
      var request = try client.request("public/records/query", Self.query)
      request.signature = try client.sign(
        "\(request.date ?? ""):\(try ServerKeyClient.hash(Self.query)):\(request.target)")
      var changed = request
      changed.target += "&added=1"
      #expect(try await client.send(changed).failure == "401 AUTHENTICATION_FAILED")
      #expect(try await client.send(request).status == 200)
    }
  }

  @Test("The query is not signed, so that it may be changed on the way")
  func query() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      _ = try await service.modify(Service.operation("create", "n"))
      var request = try client.request("public/records/query", Self.query)
      request.target += "&added=1"
      #expect(try await client.send(request).status == 200)
    }
  }

  @Test("A key works for its container's environment alone, and no more once it is revoked")
  func places() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service, environment: .production)
      // Users are in every schema, deployed or not.
      let users = #"{"query": {"recordType": "Users"}}"#
      #expect(try await client.post("public/records/query", users).status == 200)
      var other = try client.request("public/records/query", Self.query)
      other.target = other.target.replacing("production", with: "development")
      #expect(try await client.send(other).failure == "401 AUTHENTICATION_FAILED")
      _ = try await Registration.revoke(
        String(client.key.keyID.prefix(12)), of: service.store.credentials,
        and: service.store.adminAccess, at: service.clock.read())
      service.clock.advance(bySeconds: CredentialDirectory.trust)
      let revoked = try await client.post("public/records/query", Self.query)
      #expect(revoked.failure == "401 AUTHENTICATION_FAILED")
      #expect(revoked.reason.contains("revoked"))
    }
  }

  @Test(
    "A date is good within the window, ten minutes to either side unless set",
    arguments: [
      (600.0, -598.0, 200), (600, 598, 200), (600, -602, 401), (600, 602, 401), (30, -28, 200),
      (30, -32, 401), (30, 32, 401),
    ])
  func window(_ window: Double, _ seconds: Double, _ status: Int) async throws {
    var settings = ServiceSettings()
    settings.signatureWindow = window
    try await withService(settings) { service in
      let client = try await ServerKeyClient(service)
      _ = try await service.modify(Service.operation("create", "n"))
      let answer = try await client.send(
        try client.request("public/records/query", Self.query, after: seconds))
      #expect(answer.status == status, "\(answer.json)")
      if status == 401 { #expect(answer.reason.contains("seconds from the server's")) }
    }
  }

  /// A request as sent again by who makes the other signature out of its own, which is as valid.
  private static func mirrored(
    _ request: ServerKeyClient.Request, _ client: ServerKeyClient
  ) throws -> ServerKeyClient.Request {
    var mirrored = request
    mirrored.signature = Data(try Self.mirrored(try request.rawSignature).der)
    let key = try ES256PublicKey(pem: client.key.publicKey)
    let path = request.target.prefix { $0 != "?" }
    #expect(
      key.isValid(
        signature: try ES256Signature(der: try #require(mirrored.signature)),
        for: "\(request.date ?? ""):\(try ServerKeyClient.hash(request.body)):\(path)".utf8))
    return mirrored
  }

  @Test("A read that is sent again within the window is answered again")
  func repeatedReads() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      _ = try await service.modify(Service.operation("create", "n"))
      for operation in ["public/records/query", "public/subscriptions/list"] {
        let request = try client.request(operation, Self.query)
        let first = try await client.send(request)
        #expect(first.status == 200)
        #expect(try await client.send(request).json == first.json)
        #expect(try await client.send(Self.mirrored(request, client)).json == first.json)
        service.clock.advance(bySeconds: 601)
        #expect(try await client.send(request).failure == "401 AUTHENTICATION_FAILED")
      }
    }
  }

  @Test("A change of named records that is sent again is made once, and answered as it was")
  func repeatedChanges() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      let request = try client.request(
        "public/records/modify",
        Self.operations(
          Service.operation("create", "a") + ", " + Service.operation("forceUpdate", "b")))
      let first = try await client.send(request)
      #expect(first.outcomes == ["ok", "ok"])
      for again in [request, try Self.mirrored(request, client)] {
        #expect(try await client.send(again).json == first.json)
      }
      try await service.restart()
      #expect(try await client.send(request).json == first.json)
      // Signed anew it is another request.
      service.clock.advance(bySeconds: 1)
      let anew = try await client.post("public/records/modify", request.body)
      #expect(anew.outcomes != ["ok", "ok"])
    }
  }

  @Test("Another change is made once, and a repeated one is to be signed anew")
  func repeatedOthers() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      let create = #"{"operationType": "create", "record": {"recordType": "Note", "fields": {}}}"#
      let request = try client.request("public/records/modify", Self.operations(create))
      #expect(try await client.send(request).outcomes == ["ok"])
      for again in [request, try Self.mirrored(request, client)] {
        let answer = try await client.send(again)
        #expect(answer.failure == "503 TRY_AGAIN_LATER", "\(answer.json)")
        #expect(answer.json["retryAfter"] == 1 && answer.reason.contains("sign the request again"))
      }
      try await service.restart()
      #expect(try await client.send(request).failure == "503 TRY_AGAIN_LATER")
      #expect(try await client.post("public/records/query", Self.query).items.count == 1)
      service.clock.advance(bySeconds: 1)
      #expect(try await client.post("public/records/modify", request.body).outcomes == ["ok"])
      #expect(try await client.post("public/records/query", Self.query).items.count == 2)
      // What is remembered does not grow for ever.
      service.clock.advance(bySeconds: 7200)
      try await service.store.maintenance.trim(at: service.clock.read())
      let isForgotten = try await service.store.credentials.takeSignature(
        Array(try request.rawSignature.prefix(32)), ofKey: client.key.keyID, until: .now)
      #expect(isForgotten)
    }
  }

  /// The signature (r, n − s).
  private static func mirrored(_ raw: [UInt8]) throws -> ES256Signature {
    let order: [UInt8] = [
      0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC,
      0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    var other = raw
    var borrow = 0
    for index in (0..<32).reversed() {
      let difference = Int(order[index]) - Int(raw[32 + index]) - borrow
      borrow = difference < 0 ? 1 : 0
      other[32 + index] = UInt8(truncatingIfNeeded: difference)
    }
    return try ES256Signature(raw: other)
  }
}
