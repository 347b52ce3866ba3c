import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import PythonPrograms
import Testing

@testable import PushChannels

struct VAPIDTests {
  private let key: ES256PrivateKey
  private let start = Timestamp(milliseconds: 1_767_225_600_000)

  init() throws {
    key = try ES256PrivateKey()
  }

  private func issuer() throws -> VAPIDTokenIssuer {
    try VAPIDTokenIssuer(key: key, subject: "mailto:ops@example.com")
  }

  private func claims(_ authorization: String) throws -> JSONValue {
    let parts = authorization.split(separator: ".")
    return try JSONValue(parsing: Data(try #require(Base64URL.decode(parts[1]))))
  }

  @Test("a token is for one origin, ends in twelve hours and names the operator")
  func content() throws {
    var issuer = try issuer()
    let value = try issuer.authorization(for: "https://push.example.com", at: start)
    let claims = try claims(value)
    #expect(claims["aud"] == "https://push.example.com")
    let end = try #require(claims["exp"]?.int)
    #expect(end == 1_767_225_600 + 43_200)
    #expect(claims["sub"] == "mailto:ops@example.com")
    #expect(value.hasSuffix(",k=\(issuer.publicKey)"))
    #expect(Base64URL.decode(issuer.publicKey)?.count == 65)
  }

  @Test("a token is used for six hours, then there is another")
  func renewal() throws {
    var issuer = try issuer()
    let origin = "https://push.example.com"
    let first = try issuer.authorization(for: origin, at: start)
    #expect(try issuer.authorization(for: origin, at: start.advanced(bySeconds: 21_599)) == first)
    let second = try issuer.authorization(for: origin, at: start.advanced(bySeconds: 21_600))
    #expect(second != first)
    #expect(try claims(second)["exp"]?.int == 1_767_225_600 + 64_800)
    #expect(try issuer.authorization(for: "https://other.example.com", at: start) != first)
  }

  @Test("after the clock was set back no token is used that would end too late")
  func clockSetBack() throws {
    var issuer = try issuer()
    let origin = "https://push.example.com"
    let first = try issuer.authorization(for: origin, at: start)
    let earlier = start.advanced(bySeconds: -90_000)
    let second = try issuer.authorization(for: origin, at: earlier)
    #expect(second != first)
    #expect(try claims(second)["exp"]?.int == 1_767_225_600 - 90_000 + 43_200)
  }

  @Test("of very many origins, those that are used last keep their tokens, and memory has a limit")
  func manyOrigins() throws {
    var issuer = try issuer()
    let favourite = try issuer.authorization(for: "https://favourite.example.com", at: start)
    for number in 0..<2_200 {
      _ = try issuer.authorization(for: "https://\(number).example.com", at: start)
      let again = try issuer.authorization(for: "https://favourite.example.com", at: start)
      #expect(again == favourite)
    }
    #expect(issuer.count <= 2 * VAPIDTokenIssuer.generationSize)
  }

  @Test("py_vapid takes our tokens", .enabled(if: Python.isInstalled))
  func verifiedByPython() throws {
    var issuer = try issuer()
    let value = try issuer.authorization(for: "https://push.example.com", at: .now)
    let answer = try Python.run(
      """
      import sys
      from py_vapid import Vapid02
      print(Vapid02.verify(sys.argv[1]))
      """, value)
    #expect(answer == "True")
    // One character of the signature.
    let place = try #require(value.firstIndex(of: ",")).utf16Offset(in: value) - 10
    var forged = Array(value)
    forged[place] = forged[place] == "A" ? "B" : "A"
    let refusal = try Python.run(
      """
      import sys
      from py_vapid import Vapid02
      try: print(Vapid02.verify(sys.argv[1]))
      except Exception as e: print(False)
      """, String(forged))
    #expect(refusal == "False")
  }
}
