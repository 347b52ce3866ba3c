import CloudKitModel
import Cryptography
import Testing

@testable import APNsSimulation

struct ProviderTokenSessionTests {
  private let now = Timestamp(milliseconds: 1_767_225_600_000)
  private let fixture: RequestFixture

  init() throws {
    fixture = try RequestFixture()
  }

  private func reason(
    _ authorization: String?, session: inout ProviderTokenSession, now: Timestamp? = nil,
    keys: [String: ProviderKey]?? = .none
  ) -> APNsReason? {
    do {
      try session.check(
        authorization: authorization,
        keys: keys ?? [RequestFixture.keyID: fixture.registeredKey()], now: now ?? self.now)
      return nil
    } catch {
      return error.reason
    }
  }

  private func reason(_ authorization: String?) -> APNsReason? {
    var session = ProviderTokenSession()
    return reason(authorization, session: &session)
  }

  @Test("the header must bear a token")
  func missing() throws {
    let token = try fixture.providerToken(issued: now)
    for header in [nil, "", "bearer", "bearer ", token, "basic " + token] {
      #expect(reason(header) == .missingProviderToken, "\(header ?? "none")")
    }
    #expect(reason("Bearer " + token) == nil)
  }

  @Test("a token that is malformed or not signed by its key is invalid")
  func invalid() throws {
    let good = try fixture.providerToken(issued: now)
    let parts = good.split(separator: ".")
    let bad = [
      "x", "a.b", good + ".x", "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1]).AAAA",
      "\(parts[0]).\(parts[1]).\(parts[2])=", "e30.\(parts[1]).\(parts[2])",
      "\(parts[0]).W10.\(parts[2])",
      try fixture.providerToken(issued: now, algorithm: "HS256"),
      try fixture.providerToken(issued: now, algorithm: "none"),
      try fixture.providerToken(issued: now, keyID: "OTHER67890"),
      try fixture.providerToken(issued: now, keyID: 7),
      try fixture.providerToken(issued: now, teamID: "OTHER67890"),
      try fixture.providerToken(issued: now, teamID: .null),
      try fixture.providerToken(issued: now, issuedClaim: "now"),
      try fixture.providerToken(issued: now, issuedClaim: 1.5),
      try fixture.providerToken(issued: now, issuedClaim: .int(.min)),
      try fixture.providerToken(issued: now, key: ES256PrivateKey()),
    ]
    for token in bad { #expect(reason("bearer " + token) == .invalidProviderToken, "\(token)") }
  }

  @Test("a token lives for an hour, also one that was accepted before")
  func age() throws {
    let authorization = "bearer " + (try fixture.providerToken(issued: now))
    var session = ProviderTokenSession()
    for (seconds, expected) in [
      (0, nil), (3600, nil), (3601, .expiredProviderToken), (-3600, nil),
      (-3601, .expiredProviderToken),
    ] as [(Double, APNsReason?)] {
      let later = now.advanced(bySeconds: seconds)
      #expect(reason(authorization, session: &session, now: later) == expected)
      var fresh = ProviderTokenSession()
      #expect(reason(authorization, session: &fresh, now: later) == expected)
    }
  }

  @Test("a token issued less than 20 minutes after the last is one too many")
  func updates() throws {
    var session = ProviderTokenSession()
    let first = "bearer " + (try fixture.providerToken(issued: now))
    let soon = "bearer " + (try fixture.providerToken(issued: now.advanced(bySeconds: 1199)))
    let later = "bearer " + (try fixture.providerToken(issued: now.advanced(bySeconds: 1200)))
    #expect(reason(first, session: &session) == nil)
    #expect(reason(soon, session: &session) == .tooManyProviderTokenUpdates)
    #expect(reason(first, session: &session) == nil)
    #expect(reason(later, session: &session) == nil)
    #expect(reason(first, session: &session) == nil)
  }

  @Test("a connection belongs to one team and one key")
  func otherKeys() throws {
    let otherKey = try ES256PrivateKey()
    let keys = [
      RequestFixture.keyID: fixture.registeredKey(),
      "SECOND7890": ProviderKey(
        keyID: "SECOND7890", teamID: RequestFixture.teamID, publicKey: otherKey.publicKey),
      "THIRD67890": ProviderKey(
        keyID: "THIRD67890", teamID: "ELSE567890", publicKey: otherKey.publicKey),
    ]
    var session = ProviderTokenSession()
    func reason(_ keyID: String, _ teamID: String, _ key: ES256PrivateKey) throws -> APNsReason? {
      let token = try fixture.providerToken(
        issued: now, keyID: .string(keyID), teamID: .string(teamID), key: key)
      return self.reason("bearer " + token, session: &session, keys: .some(keys))
    }
    #expect(try reason(RequestFixture.keyID, RequestFixture.teamID, fixture.privateKey) == nil)
    #expect(try reason("SECOND7890", RequestFixture.teamID, otherKey) == .unrelatedKeyInToken)
    #expect(try reason("THIRD67890", "ELSE567890", otherKey) == .invalidProviderToken)
  }

  @Test("without registered keys any signature passes, but form and age are still checked")
  func anyKey() throws {
    var session = ProviderTokenSession()
    let token = try fixture.providerToken(issued: now, keyID: "ANY", key: ES256PrivateKey())
    #expect(reason("bearer " + token, session: &session, keys: .some(nil)) == nil)
    var other = ProviderTokenSession()
    #expect(
      reason("bearer x.y.z", session: &other, keys: .some(nil)) == .invalidProviderToken)
    let old = try fixture.providerToken(issued: now.advanced(bySeconds: -4000))
    #expect(
      reason("bearer " + old, session: &other, keys: .some(nil)) == .expiredProviderToken)
  }
}
