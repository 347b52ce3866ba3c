import Cryptography
import Foundation
import IssuerSimulation
import JSONCoding
import Testing

@testable import OpenIDConnect

struct IDTokenTests {
  private func reason(_ change: @escaping (inout SimulatedIssuer.Behaviour) -> Void) async throws
    -> String
  {
    var reason = "none: the token was accepted"
    try await withIssuer { fixture in
      fixture.simulation.change(change)
      if let failure = await fixture.failure() {
        #expect(failure.code == .invalidToken, "\(failure)")
        reason = failure.reason
      }
    }
    return reason
  }

  @Test("a token that another key signed under the issuer's name is refused")
  func forged() async throws {
    for key in [SigningKey.makeRSA(), try .makeCurve()] {
      let reason = try await reason { $0.signer = ("first", key) }
      #expect(reason.contains(key.algorithm == "RS256" ? "signature" : "does not publish"))
    }
  }

  @Test("a token whose claims were changed after it was signed is refused")
  func changed() async throws {
    try await withIssuer { fixture in
      let now = Int64(Date().timeIntervalSince1970)
      let claims: JSONValue = [
        "iss": .string(fixture.simulation.url), "sub": "admin", "aud": "client",
        "iat": .int(now), "exp": .int(now + 300), "nonce": "n-1",
      ]
      let header = Base64URL.encode(#"{"alg":"RS256","kid":"first"}"#.utf8)
      let genuine = "\(header).\(Base64URL.encode(claims.text.utf8))"
      let signature = try IssuerFixture.rsa.signature(for: genuine)
      func token(_ text: String) -> String { "\(text).\(Base64URL.encode(signature))" }
      fixture.simulation.change { $0.token = token(genuine) }
      #expect(try await fixture.signIn().subject == "admin")
      let changed = claims.text.replacingOccurrences(of: "admin", with: "other")
      fixture.simulation.change {
        $0.token = token("\(header).\(Base64URL.encode(changed.utf8))")
      }
      #expect(await fixture.failure()?.reason.contains("signature") ?? false)
    }
  }

  @Test(
    "only RS256 and ES256 are accepted: neither none nor an HMAC under the public key",
    arguments: ["none", "None", "HS256", "RS384", "ES384", "PS256", ""])
  func algorithms(_ name: String) async throws {
    #expect(try await reason { $0.header["alg"] = .string(name) }.contains("RS256 or ES256"))
  }

  @Test("a token without a signature is refused, whatever it says")
  func unsigned() async throws {
    for name in ["none", "RS256"] {
      let header = Base64URL.encode(#"{"alg":"\#(name)","kid":"first"}"#.utf8)
      let reason = try await reason { $0.token = "\(header).\(Base64URL.encode("{}".utf8))." }
      #expect(reason.contains(name == "none" ? "RS256 or ES256" : "no signature"))
    }
  }

  @Test("a token that names the other algorithm than its key is refused")
  func confused() async throws {
    #expect(try await reason { $0.header["alg"] = "ES256" }.contains("does not publish"))
  }

  @Test(
    "what is no token is refused",
    arguments: ["", "x", "a.b", "a.b.c", "e30.e30", "e30.e30.e30.e30", "W10.W10.AAAA"])
  func malformed(_ text: String) async throws {
    _ = try await reason { $0.token = text }
  }

  @Test("a token that is too long is refused before it is read")
  func long() async throws {
    let reason = try await reason { $0.token = String(repeating: "a", count: 16_385) }
    #expect(reason.contains("16384 bytes"))
  }

  @Test("a token that asks for extensions is refused")
  func critical() async throws {
    #expect(try await reason { $0.header["crit"] = ["exp"] }.contains("extensions"))
  }

  @Test("a token of another issuer, for another client or another party is refused")
  func audience() async throws {
    for (claim, value, words) in [
      ("iss", "https://other.example.com", "issuer"), ("iss", .null, "issuer"),
      ("aud", "other", "not for client"), ("aud", .null, "not for client"),
      ("aud", [], "not for client"), ("aud", ["client", "other"], "party"),
      ("azp", "other", "party"),
    ] as [(String, JSONValue, String)] {
      let reason = try await reason { $0.claims[claim] = value }
      #expect(reason.contains(words), "\(claim) \(value.text): \(reason)")
    }
    try await withIssuer { fixture in
      fixture.simulation.change {
        $0.claims["aud"] = ["other", "client"]
        $0.claims["azp"] = "client"
      }
      #expect(await fixture.failure() == nil)
    }
  }

  @Test("a token for another sign-in, or without a nonce, is refused")
  func nonce() async throws {
    try await withIssuer { fixture in
      #expect(
        await fixture.failure(nonce: "n-1", expecting: "n-2")?.reason.contains("another sign-in")
          ?? false)
    }
    #expect(try await reason { $0.claims["nonce"] = .null }.contains("another sign-in"))
  }

  @Test("a token is good from a minute before to a minute after its times")
  func times() async throws {
    let now = Int64(Date().timeIntervalSince1970)
    for (claim, offset, words) in [
      ("exp", -61, "expired"), ("iat", 70, "claim 'iat'"), ("iat", -670, "claim 'iat'"),
      ("nbf", 70, "not valid yet"), ("exp", -50, nil), ("iat", 50, nil), ("iat", -590, nil),
      ("nbf", 50, nil),
    ] as [(String, Int64, String?)] {
      let reason = try await reason { $0.claims[claim] = .int(now + offset) }
      #expect(reason.contains(words ?? "accepted"), "\(claim) \(offset): \(reason)")
    }
    for claim in ["exp", "iat"] {
      #expect(try await !reason { $0.claims[claim] = .null }.contains("accepted"))
      #expect(try await !reason { $0.claims[claim] = "soon" }.contains("accepted"))
    }
  }

  @Test("a token needs a subject of a bearable length")
  func subjects() async throws {
    for subject in [.null, "", .string(String(repeating: "s", count: 256)), 1] as [JSONValue] {
      #expect(try await reason { $0.claims["sub"] = subject }.contains("subject"))
    }
  }
}
