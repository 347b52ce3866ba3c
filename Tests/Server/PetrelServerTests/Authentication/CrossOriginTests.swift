import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

struct CrossOriginTests {
  private static let origin = "https://app.example.com"

  @Test(
    "A preflight is answered for every path that pages use",
    arguments: [
      "/database/1/iCloud.com.example.app/development/public/records/query",
      "/database/1/iCloud.com.example.app/development/private/no/such",
      "/database/1/iCloud.com.example.app/development/tokens/create",
      "/device/1/iCloud.com.example.app/development/tokens/register",
      "/device/1/iCloud.com.example.app/production/notifications/changes",
      "/assets/1/upload/secret", "/assets/1/0a?expires=1&signature=x", "/aps?tok=x",
    ])
  func preflight(_ target: String) async throws {
    try await withService { service in
      let answer = try await service.client.send(
        "OPTIONS", target,
        headers: "Origin: \(Self.origin)\r\nAccess-Control-Request-Method: POST\r\n"
          + "Access-Control-Request-Headers: content-type,x-apple-cloudkit-request-keyid\r\n")
      #expect(answer.status == 204)
      #expect(answer.headers["access-control-allow-origin"] == Self.origin)
      #expect(answer.headers["vary"] == "Origin")
      #expect(answer.headers["access-control-allow-methods"]?.contains("POST") == true)
      #expect(
        answer.headers["access-control-allow-headers"]
          == "content-type,x-apple-cloudkit-request-keyid")
      #expect(answer.headers["access-control-max-age"] == "600")
      #expect(answer.body.isEmpty)
    }
  }

  @Test("A preflight already refuses a page that may not use the API token in the query")
  func refusedPreflight() async throws {
    try await withService { service in
      let token = try await service.addAPIToken(origins: [Self.origin])
      let good = try await service.send(
        "public/records/query", "", method: "OPTIONS", apiToken: token, origin: Self.origin)
      #expect(good.status == 204)
      let bad = try await service.send(
        "public/records/query", "", method: "OPTIONS", apiToken: token,
        origin: "https://evil.example")
      #expect(bad.failure == "401 AUTHENTICATION_FAILED")
      #expect(bad.headers["access-control-allow-origin"] == nil)
      // The request itself reports an unknown token, in an answer that the page can read.
      let unknown = try await service.send(
        "public/records/query", "", method: "OPTIONS", apiToken: "0a",
        origin: "https://evil.example")
      #expect(unknown.status == 204)
    }
  }

  @Test("Answers and errors can be read by the page, the next token with them")
  func answers() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n", ""))
      let query = #"{"query": {"recordType": "Note"}}"#
      for (operation, body, user, status) in [
        ("public/records/query", query, service.alice, 200),
        ("private/records/query", query, nil, 421),
        ("public/records/query", "no JSON", nil, 400),
        ("public/no/such", "{}", nil, 404),
      ] as [(String, String, TestUser?, Int)] {
        let answer = try await service.send(
          operation, body, apiToken: nil, as: user, origin: Self.origin)
        #expect(answer.status == status)
        #expect(answer.headers["access-control-allow-origin"] == Self.origin)
        #expect(answer.headers["vary"] == "Origin")
        #expect(
          answer.headers["access-control-expose-headers"]?
            .contains("X-Apple-CloudKit-Web-Auth-Token") == true)
      }
      for target in ["/aps?tok=unknown", "/assets/1/upload/unknown", "/assets/1/00"] {
        let answer = try await service.client.send(
          target.hasPrefix("/aps") ? "GET" : "POST", target,
          headers: "Origin: \(Self.origin)\r\n")
        #expect(answer.status >= 400)
        #expect(answer.headers["access-control-allow-origin"] == Self.origin, "\(target)")
      }
    }
  }

  @Test("A request that HTTP's own limits refuse can be read by the page too")
  func refusals() async throws {
    try await withService { service in
      let answer = try await service.client.send(
        "POST", service.target("public/records/query", as: nil),
        headers: "Origin: \(Self.origin)\r\n", body: Data(count: 9 << 20))
      #expect(answer.status == 413)
      #expect(answer.headers["access-control-allow-origin"] == Self.origin)
    }
  }

  @Test("Programs without an origin get no such headers, and other paths never do")
  func others() async throws {
    try await withService { service in
      let plain = try await service.get("public/users/caller", as: service.alice)
      #expect(plain.headers["access-control-allow-origin"] == nil)
      #expect(plain.headers["vary"] == "Origin")
      for path in ["/", "/elsewhere", "/databases"] {
        let answer = try await service.client.send(
          "GET", path, headers: "Origin: \(Self.origin)\r\n")
        #expect(answer.headers["access-control-allow-origin"] == nil)
      }
    }
  }

  @Test(
    "The type of a body is not looked at",
    arguments: [
      "text/plain", "application/json; charset=utf-8", "application/octet-stream", "nonsense",
    ])
  func contentTypes(_ type: String) async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n"))
      let answer = try await service.client.send(
        "POST", service.target("public/records/query", as: nil),
        headers: "Content-Type: \(type)\r\n",
        body: Data(#"{"query": {"recordType": "Note"}}"#.utf8))
      #expect(answer.status == 200)
    }
  }
}
