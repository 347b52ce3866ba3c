import CloudKitModel
import IssuerSimulation
import Testing

@testable import OpenIDConnect

struct KeyRotationTests {
  @Test("a new key is fetched when it is first used, if a minute has passed since the last fetch")
  func rotates() async throws {
    let second = try SigningKey.makeCurve()
    try await withIssuer { fixture in
      _ = try await fixture.signIn()
      fixture.simulation.change {
        $0.keys["second"] = second
        $0.signer = ("second", second)
      }
      let early = await fixture.failure()
      #expect(early?.reason.contains("'second'") ?? false)
      #expect(fixture.simulation.log.requests["/keys"] == 1)
      fixture.clock.advance(bySeconds: KeySetCache.pause)
      #expect(await fixture.failure() == nil)
      #expect(fixture.simulation.log.requests["/keys"] == 2)
    }
  }

  @Test("names that nobody publishes reach the issuer once a minute at most")
  func unknown() async throws {
    try await withIssuer { fixture in
      fixture.simulation.change { $0.signer.keyID = "made up" }
      for _ in 1...5 { #expect(await fixture.failure()?.code == .invalidToken) }
      #expect(fixture.simulation.log.requests["/keys"] == 1)
    }
  }

  @Test("a key that was withdrawn is forgotten after an hour")
  func withdrawn() async throws {
    try await withIssuer { fixture in
      _ = try await fixture.signIn()
      fixture.simulation.change {
        $0.keys = ["other": IssuerFixture.rsa]
        $0.claims["exp"] = 9_999_999_999
      }
      #expect(await fixture.failure() == nil)
      fixture.clock.advance(bySeconds: KeySetCache.lifetime)
      fixture.simulation.change {
        $0.claims["iat"] = .int(Int64(fixture.clock.now.seconds))
      }
      #expect(await fixture.failure()?.reason.contains("does not publish") ?? false)
    }
  }

  @Test("a token that names no key is checked with the only one of its kind, and never guessed")
  func unnamed() async throws {
    try await withIssuer { fixture in
      fixture.simulation.change { $0.signer.keyID = nil }
      #expect(await fixture.failure() == nil)
    }
    try await withIssuer { fixture in
      fixture.simulation.change {
        $0.signer.keyID = nil
        $0.keys["second"] = $0.signer.key
      }
      #expect(await fixture.failure()?.code == .invalidToken)
    }
  }

  @Test("keys that are too short, or not for signing, are passed over")
  func unusable() throws {
    let short = SigningKey.makeRSA(bits: 1024).publicJSON(keyID: "short")
    #expect(IssuerKey(short) == nil)
    let curve = try SigningKey.makeCurve().publicJSON(keyID: "curve")
    #expect(IssuerKey(curve) != nil)
    for (member, value) in [("use", "enc"), ("crv", "P-384"), ("alg", "RS256"), ("x", "AAAA")] {
      var changed = curve.object ?? [:]
      changed[member] = .string(value)
      #expect(IssuerKey(.object(changed)) == nil, "\(member)")
    }
    #expect(IssuerKey(["kty": "oct", "k": "AAAA"]) == nil)
  }
}
