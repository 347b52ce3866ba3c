import CloudKitModel
import Cryptography
import Foundation
import HostilePeer
import IssuerSimulation
import JSONCoding
import Testing
import Waiting

@testable import OpenIDConnect

/// Tests of an issuer that lies, or that an attacker controls. It can sign in only its own users,
/// costs little, and leads the server nowhere.
struct LyingIssuerTests {
  private func document(_ issuer: String, _ member: String, _ url: String) -> JSONValue {
    var members: [String: JSONValue] = [
      "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/authorize"),
      "token_endpoint": .string(issuer + "/token"), "jwks_uri": .string(issuer + "/keys"),
    ]
    members[member] = .string(url)
    return .object(members)
  }

  @Test(
    "one elsewhere cannot lead the server to its own machine",
    arguments: ["authorization_endpoint", "token_endpoint", "jwks_uri"])
  func ownMachine(member: String) throws {
    let issuer = "https://issuer.example.com"
    for url in ["http://127.0.0.1:8080/keys", "http://localhost/", "HTTP://[::1]:1/"] {
      let error = #expect(throws: OpenIDError.self) {
        try IssuerMetadata(document(issuer, member, url), issuer: issuer)
      }
      #expect(error?.reason.contains("'\(member)'") == true)
    }
    let own = "http://127.0.0.1:1"
    _ = try IssuerMetadata(document(own, member, "http://127.0.0.1:2/"), issuer: own)
    _ = try IssuerMetadata(document(issuer, member, "https://other.example.com/"), issuer: issuer)
  }

  @Test("no endpoint is followed elsewhere, and the client's secret goes to none but its own")
  func redirects() async throws {
    for member in ["token_endpoint", "jwks_uri"] {
      try await withIssuer { fixture in
        fixture.simulation.change {
          $0.document[member] = .string(fixture.simulation.url + "/elsewhere")
        }
        let failure = await fixture.failure()
        #expect([.unreachable, .refused].contains(failure?.code), "\(member)")
        #expect(fixture.simulation.log.requests["/keys"] == nil)
      }
    }
  }

  /// Times that no honest token has, with whether the token may be believed all the same.
  static let times: [(claim: String, value: JSONValue, isGood: Bool)] = [
    ("exp", 0, false), ("exp", -1, false), ("exp", -1e300, false), ("exp", "9999999999", false),
    ("exp", .null, false), ("exp", [9_999_999_999], false), ("exp", 1e300, true),
    ("exp", 9_999_999_999.5, true), ("iat", 0, false), ("iat", -9_999_999_999, false),
    ("iat", 1e300, false), ("iat", -1e300, false), ("iat", "now", false), ("iat", .null, false),
    ("nbf", 1e300, false), ("nbf", "later", false), ("nbf", true, false),
    ("nbf", 9_999_999_999, false), ("nbf", 0, true), ("nbf", -1e300, true), ("nbf", .null, true),
  ]

  @Test("times that are far off, of another kind or beyond all numbers are refused")
  func oddTimes() async throws {
    try await withIssuer { fixture in
      for (claim, value, isGood) in Self.times {
        fixture.simulation.change { $0.claims = [claim: value] }
        let failure = await fixture.failure()
        #expect(
          (failure == nil) == isGood, "\(claim) \(value.text): \(String(describing: failure))")
      }
    }
  }

  @Test("an audience or party that is no text is not passed over")
  func oddAudiences() async throws {
    try await withIssuer { fixture in
      for claims in [
        ["aud": ["client", 5]], ["aud": ["client", .null]], ["aud": [["client"]]],
        ["aud": ["client": "client"]], ["aud": "client other"], ["aud": "CLIENT"],
        ["azp": ["client"]], ["azp": 5], ["azp": ""], ["aud": ["client", "client"]],
      ] as [[String: JSONValue]] {
        fixture.simulation.change { $0.claims = claims }
        #expect(await fixture.failure()?.code == .invalidToken, "\(claims)")
      }
      // Whatever it says of others, the reason stays short.
      let long = JSONValue.string(String(repeating: "x", count: 10_000))
      for claim in ["iss", "aud", "azp"] {
        fixture.simulation.change { $0.claims = [claim: long] }
        let failure = await fixture.failure()
        #expect((failure?.reason.count ?? 1_000) < 400, "\(claim)")
      }
    }
  }

  @Test("a key that the token brings itself, or names by a URL, is not taken")
  func ownKeys() async throws {
    let own = SigningKey.makeRSA()
    try await withIssuer { fixture in
      fixture.simulation.change {
        $0.signer = ("first", own)
        $0.header = [
          "jwk": own.publicJSON(keyID: "first"), "jku": .string(fixture.simulation.url + "/keys"),
          "x5u": .string(fixture.simulation.url + "/keys"),
        ]
      }
      #expect(await fixture.failure()?.reason.contains("signature") == true)
      #expect(fixture.simulation.log.requests["/keys"] == 1)
    }
  }

  @Test("of keys with one name the first of its kind counts, and none is tried beside it")
  func sameNames() async throws {
    let second = SigningKey.makeRSA()
    try await withIssuer { fixture in
      fixture.simulation.change {
        $0.keySet = [
          "keys": [
            IssuerFixture.rsa.publicJSON(keyID: "first"), second.publicJSON(keyID: "first"),
          ]
        ]
      }
      #expect(await fixture.failure() == nil)
      fixture.simulation.change { $0.signer = ("first", second) }
      #expect(await fixture.failure()?.reason.contains("signature") == true)
    }
  }

  @Test("a key that is weak, dear, or called by another algorithm's name is passed over")
  func oddKeys() throws {
    let good = IssuerFixture.rsa.publicJSON(keyID: "rsa").object ?? [:]
    let bytes = { (count: Int, first: UInt8) in
      JSONValue.string(Base64URL.encode([first] + [UInt8](repeating: 0xFF, count: count - 1)))
    }
    for (member, value) in [
      ("e", bytes(1, 1)), ("e", bytes(1, 2)), ("e", bytes(5, 1)), ("e", bytes(4_000, 1)),
      ("e", ""), ("n", bytes(127, 0xFF)), ("n", bytes(255, 0x7F)), ("n", bytes(1_025, 1)),
      ("n", bytes(100_000, 1)), ("n", ""), ("n", "?"), ("n", .null), ("n", ["AQAB"]),
      ("alg", "ES256"), ("alg", "HS256"), ("alg", "none"), ("kty", "oct"), ("kty", "EC"),
      ("use", "enc"),
    ] as [(String, JSONValue)] {
      var changed = good
      changed[member] = value
      #expect(IssuerKey(.object(changed)) == nil, "\(member) \(value.text.prefix(40))")
    }
    #expect(IssuerKey(.object(good)) != nil)
  }

  @Test("of thousands of keys a hundred are read, and a document without a list is refused")
  func manyKeys() async throws {
    let other = try SigningKey.makeCurve().publicJSON(keyID: "other")
    let own = IssuerFixture.rsa.publicJSON(keyID: "first")
    try await withIssuer { fixture in
      for (set, code) in [
        (["keys": .array([own] + Array(repeating: other, count: 1_000))], nil),
        (["keys": .array(Array(repeating: other, count: 1_000) + [own])], .invalidToken),
        (["keys": ["first": own]], .badAnswer), (["keys": []], .invalidToken),
        (["keys": [5, [], .null, "key"]], .invalidToken),
      ] as [(JSONValue, OpenIDError.Code?)] {
        let issuer = Issuer(fixture.issuer.settings)
        fixture.simulation.change { $0.keySet = set }
        let again = IssuerFixture(
          issuer: issuer, simulation: fixture.simulation, clock: fixture.clock)
        #expect(await again.failure()?.code == code, "\(set.text.prefix(60))")
      }
    }
  }

  @Test("a document that is deep, long or none is refused")
  func oddDocuments() async throws {
    for body in [
      String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 40_000),
      "[]", "null", "", "{\"issuer\":", "\u{FEFF}{}", "{\"issuer\":5}",
    ] {
      let peer = try HTTPPeer { connection in
        try connection.sendRaw(
          Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
      }
      let failure = await peer.failure(BoundedFetcher())
      #expect(failure?.code == .badAnswer, "\(body.prefix(20)): \(String(describing: failure))")
      peer.stop()
    }
  }

  @Test("an answer that does not end is broken off in its time, however steadily it comes")
  func slowBodies() async throws {
    for head in [
      "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nX: ", "",
    ] {
      let peer = try HTTPPeer { connection in
        try connection.sendRaw(Array(head.utf8))
        let piece = head.contains("chunked") ? "1\r\na\r\n" : "a"
        while true {
          try connection.sendRaw(Array(piece.utf8))
          // The pace of the peer is what is tried: it must not end 100,000 bytes before the fetcher gives up.
          usleep(20_000)
        }
      }
      let failure = await peer.failure(BoundedFetcher(timeout: 0.3))
      #expect(failure?.code == .unreachable, "\(head): \(String(describing: failure))")
      peer.stop()
    }
  }

  @Test("an answer that is cut, has two lengths, or never ends its header is refused")
  func brokenAnswers() async throws {
    for head in [
      "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 2_000_000),
      "HTTP/9.9 999\r\n\r\n", "\0\0\0\0",
    ] {
      let peer = try HTTPPeer { try $0.sendRaw(Array(head.utf8)) }
      let failure = await peer.failure(BoundedFetcher(timeout: 2))
      #expect(failure != nil, "\(head.prefix(60))")
      peer.stop()
    }
  }

  @Test("document and keys from what is now the future are fetched anew")
  func clockSetBack() async throws {
    let second = try SigningKey.makeCurve()
    try await withIssuer { fixture in
      fixture.clock.advance(bySeconds: 86_400)
      fixture.simulation.change { $0.claims["iat"] = .int(Int64(fixture.clock.now.seconds)) }
      fixture.simulation.change { $0.claims["exp"] = 9_999_999_999 }
      #expect(await fixture.failure() == nil)
      fixture.clock.advance(bySeconds: -86_400)
      fixture.simulation.change {
        $0.keys = ["second": second]
        $0.signer = ("second", second)
        $0.claims = [:]
      }
      #expect(await fixture.failure() == nil)
      let requests = fixture.simulation.log.requests
      #expect(requests["/.well-known/openid-configuration"] == 2)
      #expect(requests["/keys"] == 2)
    }
  }
}

/// A server without TLS that answers each request with what a script sends.
private struct HTTPPeer {
  private let peer: HostilePeer

  init(_ script: @escaping HostilePeer.Script) throws {
    let certificate = try CertificateAuthority(commonName: "None")
      .issueCertificate(forHosts: ["127.0.0.1"])
    peer = try HostilePeer(certificate) { connection in
      _ = try connection.readRaw()
      try script(connection)
      connection.finish()
    }
  }

  /// Returns the error with which the sign-in at the issuer fails.
  func failure(_ fetcher: BoundedFetcher) async -> OpenIDError? {
    let settings = IssuerSettings(
      issuer: "http://127.0.0.1:\(peer.port)", clientID: "client", credential: .none,
      label: "Test")
    let request = AuthorizationRequest(
      redirectURL: "http://client.invalid/", state: "s", nonce: "n",
      verifier: String(repeating: "v", count: 43))
    do {
      _ = try await Issuer(settings, fetcher: fetcher).url(for: request)
      return nil
    } catch {
      return error as? OpenIDError
    }
  }

  func stop() { peer.stop() }
}
