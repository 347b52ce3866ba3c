import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import DatabaseAPI

struct APITokenTests {
  private static let query = #"{"query": {"recordType": "Note"}}"#

  @Test("A container without a registered token asks for none, and takes whatever comes")
  func unregistered() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n", ""))
      for token in [nil, "0123", String(repeating: "a", count: 64)] {
        let answer = try await service.send("public/records/query", Self.query, apiToken: token)
        #expect(answer.status == 200, "\(answer.json)")
      }
    }
  }

  @Test("Once one is registered, requests need a known one; native clients and couriers do not")
  func registered() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n", ""))
      let reader = try await service.makeReader(as: service.alice)
      let token = try await service.addAPIToken()
      #expect(token.count == 64 && token.allSatisfy(\.isHexDigit))
      service.clock.advance(bySeconds: 6)
      let with = try await service.send("public/records/query", Self.query, apiToken: token)
      #expect(with.outcomes == ["ok"])
      let without = try await service.send("public/records/query", Self.query, apiToken: nil)
      #expect(without.failure == "401 AUTHENTICATION_FAILED")
      #expect(without.reason.contains("petrel keys add-api-token"))
      #expect(without.reason.contains("PETREL_TOKEN"), "what the native client needs")
      let wrong = try await service.send(
        "public/records/query", Self.query, apiToken: String(token.reversed()))
      #expect(wrong.failure == "401 AUTHENTICATION_FAILED")
      #expect(wrong.reason.contains("ckAPIToken"))
      let native = try await service.send(
        "private/records/query", Self.query, apiToken: nil, as: service.alice)
      #expect(native.status == 200)
      let session = try await service.signIn(service.alice)
      let web = try await service.send(
        "private/records/query", Self.query, apiToken: nil, as: session)
      #expect(web.failure == "401 AUTHENTICATION_FAILED")
      let whole = try await service.send(
        "private/records/query", Self.query, apiToken: token, as: session)
      #expect(whole.status == 200)
      _ = try await service.subscribe(
        #"{"subscriptionType": "query", "query": {"recordType": "Note"}, "firesOn": ["create"]}"#)
      _ = try await service.modify(Service.operation("create", "m", ""))
      #expect(try await service.poll(reader).json["ck"] != nil)
    }
  }

  @Test("A token is good for its container's environment alone")
  func places() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n"))
      let token = try await service.addAPIToken(environment: .production)
      service.clock.advance(bySeconds: 6)
      let development = try await service.send("public/records/query", Self.query, apiToken: nil)
      #expect(development.status == 200)
      _ = try await service.addAPIToken("other")
      service.clock.advance(bySeconds: 6)
      let wrong = try await service.send("public/records/query", Self.query, apiToken: token)
      #expect(wrong.failure == "401 AUTHENTICATION_FAILED")
    }
  }

  @Test("A revoked token is refused soon, and the container goes on asking for one")
  func revoked() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n"))
      let token = try await service.addAPIToken("old app")
      service.clock.advance(bySeconds: 6)
      let before = try await service.send("public/records/query", Self.query, apiToken: token)
      #expect(before.status == 200)
      _ = try await Registration.revoke(
        token, of: service.store.credentials, and: service.store.adminAccess,
        at: service.clock.read())
      service.clock.advance(bySeconds: CredentialDirectory.trust)
      let after = try await service.send("public/records/query", Self.query, apiToken: token)
      #expect(after.failure == "401 AUTHENTICATION_FAILED")
      #expect(after.reason.contains("'old app'") && after.reason.contains("revoked"))
      let without = try await service.send("public/records/query", Self.query, apiToken: nil)
      #expect(without.failure == "401 AUTHENTICATION_FAILED")
    }
  }

  @Test(
    "An anonymous caller with a token reads the public database and is asked to sign in elsewhere",
    arguments: [
      ("public/records/query", 200), ("public/records/lookup", 200),
      ("public/records/modify", 421), ("private/records/query", 421),
      ("shared/records/query", 421), ("private/zones/list", 421), ("public/users/caller", 421),
      ("public/subscriptions/list", 421), ("tokens/create", 421),
    ])
  func anonymous(_ operation: String, _ status: Int) async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n"))
      let token = try await service.addAPIToken()
      service.clock.advance(bySeconds: 6)
      let body = operation.hasSuffix("lookup") ? #"{"records": []}"# : Self.query
      let answer = try await service.send(operation, body, apiToken: token)
      #expect(answer.status == status, "\(answer.json)")
      if status == 421 { #expect(answer.failure == "421 AUTHENTICATION_REQUIRED") }
    }
  }

  @Test(
    "The token of a session is good for its container's environment alone, a native one for all")
  func sessions() async throws {
    try await withService { service in
      let session = try await service.signIn(service.alice)
      let operation = "public/users/caller"
      #expect(try await service.get(operation, as: session).status == 200)
      for user in [session, service.alice] {
        for (old, new) in [("development", "production"), (Service.container, "iCloud.other")] {
          let answer = try await service.client.send(
            "GET", service.target(operation, as: user).replacing(old, with: new))
          let expected = user.token == session.token ? "401 AUTHENTICATION_FAILED" : "200 -"
          #expect(answer.failure == expected)
        }
      }
    }
  }

  @Test("A plus sign that was not escaped is understood, and one that was too")
  func plusSigns() async throws {
    try await withService { service in
      let account = try #require(try await service.store.accounts.user(named: "alice"))
      let token = "a+b/c+d=="
      try await Account.addToken(
        token, for: account, in: service.store.accounts, lifetime: 60, at: service.clock.read())
      for text in ["a+b/c+d==", "a%2Bb%2Fc%2Bd%3D%3D", "a%2bb/c+d%3D="] {
        for name in ["ckWebAuthToken", "ckSession"] {
          let answer = try await service.client.send(
            "GET", service.target("public/users/caller", as: nil) + "&\(name)=\(text)")
          #expect(answer.status == 200, "\(name)=\(text)")
        }
      }
    }
  }

  @Test(
    "Pages from other places than the token allows are refused; programs without origin are not")
  func origins() async throws {
    try await withService { service in
      _ = try await service.modify(Service.operation("create", "n"))
      let token = try await service.addAPIToken(
        origins: ["HTTPS://App.Example.com:443/", "http://localhost:3000"])
      let anywhere = try await service.addAPIToken("anywhere")
      service.clock.advance(bySeconds: 6)
      let operation = "public/records/query"
      for origin in ["https://app.example.com", "http://localhost:3000", nil] {
        let answer = try await service.send(
          operation, Self.query, apiToken: token, origin: origin)
        #expect(answer.status == 200)
        #expect(answer.headers["access-control-allow-origin"] == origin)
      }
      for origin in [
        "https://evil.example", "http://app.example.com", "https://app.example.com:444",
        "https://app.example.com.evil.example", "null",
      ] {
        let answer = try await service.send(
          operation, Self.query, apiToken: token, origin: origin)
        #expect(answer.failure == "401 AUTHENTICATION_FAILED", "\(origin)")
        #expect(answer.reason.contains(origin))
        #expect(answer.headers["access-control-allow-origin"] == nil)
        let other = try await service.send(
          operation, Self.query, apiToken: anywhere, origin: origin)
        #expect(other.status == 200)
        #expect(other.headers["access-control-allow-origin"] == origin)
      }
      let user = try await service.send(
        "private/records/query", Self.query, apiToken: token, as: service.alice,
        origin: "https://evil.example")
      #expect(user.failure == "401 AUTHENTICATION_FAILED")
    }
  }

  @Test(
    "What is an origin is brought into the form of browsers",
    arguments: [
      ("https://A.example", "https://a.example"), ("http://a:80/", "http://a"),
      ("http://a:443", "http://a:443"), ("capacitor://localhost", "capacitor://localhost"),
      ("http://[::1]:8080", "http://[::1]:8080"), ("null", "null"),
      ("https://ex\u{E4}mple.com", nil), ("https://a/b", nil), ("https://a?b", nil),
      ("a.example", nil), ("localhost:3000", nil), ("https://u@a", nil), ("", nil), ("*", nil),
    ] as [(String, String?)])
  func originForms(_ text: String, _ expected: String?) {
    #expect((try? WebOrigin(parsing: text))?.description == expected)
  }
}
