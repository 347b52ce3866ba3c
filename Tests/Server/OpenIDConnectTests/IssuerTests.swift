import Cryptography
import Foundation
import IssuerSimulation
import JSONCoding
import Testing
import Waiting

@testable import OpenIDConnect

struct IssuerTests {
  @Test(
    "a code becomes an identity, with RSA and with elliptic-curve keys", arguments: [true, false])
  func signsIn(isRSA: Bool) async throws {
    try await withIssuer(key: isRSA ? IssuerFixture.rsa : .makeCurve()) { fixture in
      fixture.simulation.change {
        $0.claims = [
          "email": "anna@example.com", "email_verified": true, "given_name": "Anna",
          "family_name": "Berg",
        ]
      }
      let identity = try await fixture.signIn()
      #expect(identity.issuer == fixture.simulation.url)
      #expect(identity.subject == "248289761001")
      #expect(identity.emailAddress == "anna@example.com")
      #expect(identity.givenName == "Anna")
      #expect(identity.familyName == "Berg")
    }
  }

  @Test(
    "the browser is sent with state, nonce, scopes and a PKCE challenge; the verifier comes later")
  func request() async throws {
    try await withIssuer { fixture in
      _ = try await fixture.signIn()
      let sent = fixture.simulation.log.authorization
      let verifier = String(repeating: "v", count: 43)
      #expect(sent["response_type"] == "code")
      #expect(sent["client_id"] == "client")
      #expect(sent["scope"] == "openid email profile")
      #expect(sent["state"] == "s")
      #expect(sent["nonce"] == "n-1")
      #expect(sent["code_challenge_method"] == "S256")
      #expect(sent["code_challenge"] == Base64URL.encode(SHA256.hash(verifier.utf8)))
      #expect(sent["response_mode"] == nil)
      #expect(!sent.values.contains(verifier))
      #expect(fixture.simulation.log.tokenFields["code_verifier"] == verifier)
    }
  }

  @Test("the challenge is that of RFC 7636, appendix B")
  func challenge() {
    let request = AuthorizationRequest(
      redirectURL: "", state: "", nonce: "",
      verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(request.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test(
    "an address that is not verified is not taken over",
    arguments: [nil, false, "false"] as [JSONValue?])
  func unverified(_ verified: JSONValue?) async throws {
    try await withIssuer { fixture in
      fixture.simulation.change {
        $0.claims = ["email": "anna@example.com"]
        $0.claims["email_verified"] = verified
      }
      let unverified = try await fixture.signIn()
      #expect(unverified.emailAddress == nil)
      fixture.simulation.change { $0.claims["email_verified"] = "true" }
      let identity = try await fixture.signIn()
      #expect(identity.emailAddress == "anna@example.com")
    }
  }

  @Test("a secret goes in the form where the issuer takes it there, in a header otherwise")
  func secrets() async throws {
    try await withIssuer { fixture in
      _ = try await fixture.signIn()
      #expect(fixture.simulation.log.tokenFields["client_secret"] == "secret")
      #expect(fixture.simulation.log.tokenAuthorization == nil)
    }
    try await withIssuer { fixture in
      fixture.simulation.change { $0.document["token_endpoint_auth_methods_supported"] = .null }
      _ = try await fixture.signIn()
      #expect(fixture.simulation.log.tokenFields["client_secret"] == nil)
      #expect(fixture.simulation.log.tokenAuthorization != nil)
    }
    try await withIssuer(credential: .secret("wrong")) { fixture in
      let failure = await fixture.failure()
      #expect(failure?.code == .refused)
      #expect(failure?.reason.contains("invalid_client") ?? false)
    }
    try await withIssuer(credential: .none) { fixture in
      fixture.simulation.change { $0.secret = nil }
      _ = try await fixture.signIn()
      #expect(fixture.simulation.log.tokenFields["client_id"] == "client")
    }
  }

  @Test("Apple's kind of secret is a web token that the team's key signs, made anew each time")
  func signedSecret() async throws {
    let key = try ES256PrivateKey()
    let credential = IssuerSettings.Credential.signed(
      teamID: "TEAM123456", keyID: "KEY1234567", keyPEM: try key.pem)
    try await withIssuer(credential: credential) { fixture in
      fixture.simulation.change { $0.secret = nil }
      var secrets: Set<String> = []
      for _ in 1...2 {
        _ = try await fixture.signIn()
        let secret = try #require(fixture.simulation.log.tokenFields["client_secret"])
        secrets.insert(secret)
        let token = try SignedToken(parsing: secret)
        #expect(token.algorithm == .es256)
        #expect(token.keyID == "KEY1234567")
        #expect(token.claims["iss"] == "TEAM123456")
        #expect(token.claims["sub"] == "client")
        #expect(token.claims["aud"]?.string == fixture.simulation.url)
        let lifetime =
          (token.claims["exp"]?.int ?? 0) - (token.claims["iat"]?.int ?? 0)
        #expect(lifetime == 300)
        #expect(
          key.publicKey.isValid(
            signature: try ES256Signature(raw: token.signature), for: token.signedText.utf8))
      }
      #expect(secrets.count == 2)
    }
  }

  @Test("a code is good once, and only with its verifier")
  func codes() async throws {
    try await withIssuer { fixture in
      let request = AuthorizationRequest(
        redirectURL: "http://client.invalid/", state: "s", nonce: "n",
        verifier: String(repeating: "v", count: 43))
      let url = try await fixture.issuer.url(for: request)
      let code = fixture.simulation.signIn(at: url)["code"] ?? ""
      var other = request
      other.verifier = String(repeating: "w", count: 43)
      let failure = await #expect(throws: OpenIDError.self) {
        try await fixture.issuer.identity(forCode: code, of: other)
      }
      #expect(failure?.code == .refused)
    }
  }

  @Test("an issuer that names itself otherwise is refused, and so are endpoints without TLS")
  func documents() async throws {
    for (member, value) in [
      ("issuer", "https://other.example.com"), ("token_endpoint", "http://example.com/token"),
      ("jwks_uri", "ftp://127.0.0.1/keys"), ("authorization_endpoint", ""),
    ] {
      try await withIssuer { fixture in
        fixture.simulation.change { $0.document[member] = .string(value) }
        #expect(await fixture.failure()?.code == .badAnswer, "\(member)")
      }
    }
  }

  @Test("redirects are not followed, and answers that are too long are cut off")
  func fetching() async throws {
    try await withIssuer { fixture in
      fixture.simulation.change { [url = fixture.simulation.url] in
        $0.document["jwks_uri"] = .string(url + "/elsewhere")
      }
      #expect(await fixture.failure()?.code == .unreachable)
      #expect(fixture.simulation.log.requests["/keys"] == nil)
    }
    try await withIssuer { fixture in
      fixture.simulation.change {
        $0.document["more"] = .string(String(repeating: "x", count: 300_000))
      }
      let failure = await fixture.failure()
      #expect(failure?.code == .badAnswer)
      #expect(failure?.reason.contains("262144") ?? false, "\(failure?.reason ?? "")")
    }
  }

  @Test("an issuer that is not there is said to be out of reach")
  func unreachable() async throws {
    try await withIssuer { fixture in
      await fixture.simulation.stop()
      #expect(await fixture.failure()?.code == .unreachable)
    }
  }

  @Test("connections are kept for as long as the issuer is, and no longer")
  func connections() async throws {
    try await withIssuer { fixture in
      var issuer: Issuer? = Issuer(fixture.issuer.settings)
      for _ in 0..<3 { _ = try await issuer?.checkReachability() }
      #expect(fixture.simulation.openConnections == 1)
      issuer = nil
      try await eventually("the connection is closed") { fixture.simulation.openConnections == 0 }
    }
  }

  @Test("document and keys are fetched once, also by sign-ins at the same moment")
  func caches() async throws {
    try await withIssuer { fixture in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...8 { group.addTask { _ = try await fixture.signIn() } }
        try await group.waitForAll()
      }
      let requests = fixture.simulation.log.requests
      #expect(requests["/.well-known/openid-configuration"] == 1)
      #expect(requests["/keys"] == 1)
      #expect(requests["/token"] == 8)
    }
  }

  @Test(
    "a document whose URLs have line breaks is refused, and nobody is sent there",
    arguments: ["authorization_endpoint", "token_endpoint", "jwks_uri"])
  func brokenURLs(member: String) async throws {
    try await withIssuer { fixture in
      let url = "\(fixture.simulation.url)/evil HTTP/1.1\r\nX-Evil: 1\r\n\r\n"
      fixture.simulation.change { $0.document[member] = .string(url) }
      let failure = await fixture.failure()
      #expect(failure?.code == .badAnswer)
      #expect(failure?.reason.contains("'\(member)'") == true)
      #expect(fixture.simulation.log.requests.keys.allSatisfy { !$0.contains("evil") })
    }
  }

  @Test("which URLs are safe")
  func safeURLs() {
    for url in [
      "https://a.example.com", "http://localhost:1/a", "http://127.0.0.1", "http://[::1]/",
    ] {
      #expect(IssuerSettings.isSafe(url), "\(url)")
    }
    for url in [
      "http://a.example.com", "ftp://localhost", "https://", "https://user@a.example.com", "a", "",
      "https://a.example.com/#b", "http://localhost.example.com",
      "https://a.example.com/\r\nX-Evil: 1", "https://a.example.com/a b",
      "https://a.example.com/\0",
      "https://a.example.com/é",
    ] {
      #expect(!IssuerSettings.isSafe(url), "\(url)")
    }
  }
}
