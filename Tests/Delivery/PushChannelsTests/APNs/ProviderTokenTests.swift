import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import PropertyTesting
import Testing

@testable import PushChannels

struct ProviderTokenTests {
  private let key: ES256PrivateKey
  private let start = Timestamp(milliseconds: 1_767_225_600_700)

  init() throws {
    key = try ES256PrivateKey()
  }

  private func issuer() -> ProviderTokenIssuer {
    ProviderTokenIssuer(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
  }

  private func minutes(_ minutes: Double) -> Timestamp {
    start.advanced(bySeconds: minutes * 60)
  }

  private func decoded(_ part: String) throws -> [UInt8] {
    let bytes: [UInt8]? = Base64URL.decode(part)
    return try #require(bytes)
  }

  @Test("A token says who issued it when, and bears the key's signature")
  func content() throws {
    var issuer = issuer()
    let token = try #require(try issuer.token(at: start))
    let parts = token.split(separator: ".").map(String.init)
    try #require(parts.count == 3)
    let header = try JSONValue(parsing: Data(decoded(parts[0])))
    #expect(header == ["alg": "ES256", "kid": "ABC123DEFG"])
    let claims = try JSONValue(parsing: Data(decoded(parts[1])))
    #expect(claims == ["iss": "DEF123GHIJ", "iat": 1_767_225_600])
    let signature = try ES256Signature(raw: decoded(parts[2]))
    #expect(key.publicKey.isValid(signature: signature, for: "\(parts[0]).\(parts[1])".utf8))
  }

  @Test("A later process continues with the token and with the wait of the process before")
  func restored() throws {
    var first = issuer()
    let token = try first.token(at: start)
    var second = issuer()
    second.restore(first.state)
    #expect(try second.token(at: minutes(1)) == token)
    #expect(try second.token(at: minutes(49.9)) == token)
    #expect(second.tokenCount == 0)
    #expect(try second.token(at: minutes(50)) != token)

    first.complained(at: minutes(45))
    var third = issuer()
    third.restore(first.state)
    #expect(try third.token(at: minutes(59.9)) == token)
    #expect(try third.token(at: minutes(60)) == nil)
    #expect(try third.token(at: minutes(65)) != nil)

    var fourth = issuer()
    fourth.restore(Array("nothing".utf8))
    #expect(try fourth.token(at: minutes(1)) != nil)
    let own = try fourth.token(at: minutes(1))
    fourth.restore(first.state)
    #expect(try fourth.token(at: minutes(1)) == own)
  }

  @Test("A token serves for 50 minutes and is then replaced")
  func renewal() throws {
    var issuer = issuer()
    let first = try #require(try issuer.token(at: start))
    #expect(try issuer.token(at: minutes(49.9)) == first)
    let second = try issuer.token(at: minutes(50))
    #expect(second != first)
    #expect(try issuer.token(at: minutes(99.9)) == second)
    #expect(try issuer.token(at: minutes(100)) != second)
  }

  @Test("A token called expired is replaced at 20 minutes, not before")
  func rejected() throws {
    var issuer = issuer()
    let first = try #require(try issuer.token(at: start))
    let isRenewedEarly = issuer.rejected(first, at: minutes(19.9))
    #expect(!isRenewedEarly)
    #expect(try issuer.token(at: minutes(19.9)) == first)
    let isRenewed = issuer.rejected(first, at: minutes(20))
    #expect(isRenewed)
    #expect(try issuer.token(at: minutes(20)) != first)
  }

  @Test("An expired token that was replaced already does not cost another one")
  func rejectedLate() throws {
    var issuer = issuer()
    let first = try #require(try issuer.token(at: start))
    let second = try issuer.token(at: minutes(50))
    let canRepeat = issuer.rejected(first, at: minutes(80))
    #expect(canRepeat)
    #expect(try issuer.token(at: minutes(80)) == second)
  }

  @Test("After a complaint of too many tokens the present one serves as long as APNs takes it")
  func complaint() throws {
    var issuer = issuer()
    let first = try #require(try issuer.token(at: start))
    issuer.complained(at: minutes(45))
    let isRenewed = issuer.rejected(first, at: minutes(46))
    #expect(!isRenewed)
    #expect(try issuer.token(at: minutes(59.9)) == first)
    #expect(try issuer.token(at: minutes(60)) == nil)
    #expect(try issuer.token(at: minutes(64.9)) == nil)
    let second = try #require(try issuer.token(at: minutes(65)))
    #expect(second != first)
    #expect(try issuer.token(at: minutes(66)) == second)
  }

  @Test("A clock that was set back does not lengthen the wait after a complaint")
  func complaintAndClock() throws {
    var issuer = issuer()
    issuer.complained(at: start)
    #expect(try issuer.token(at: minutes(1)) == nil)
    #expect(try issuer.token(at: minutes(-600)) != nil)
  }

  @Test("A token from before the clock was set back ages from then on")
  func clockSetBack() throws {
    var issuer = issuer()
    let first = try #require(try issuer.token(at: start))
    #expect(try issuer.token(at: minutes(-600)) == first)
    #expect(try issuer.token(at: minutes(-551)) == first)
    #expect(try issuer.token(at: minutes(-550)) != first)
  }

  @Test("However it is asked, no two tokens are made within 20 minutes", arguments: Seeds.some(20))
  func never(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    var issuer = issuer()
    var now = start
    var current = try #require(try issuer.token(at: now))
    var made = now
    for step in 0..<500 {
      now = now.advanced(bySeconds: .random(in: 0..<600, using: &generator))
      if Bool.random(using: &generator) { _ = issuer.rejected(current, at: now) }
      let token = try #require(try issuer.token(at: now))
      if token != current {
        #expect(now.seconds - made.seconds >= 1200, "seed \(seed), step \(step)")
        (current, made) = (token, now)
      } else {
        #expect(now.seconds - made.seconds < 3000, "seed \(seed), step \(step)")
      }
    }
  }
}
