import CloudKitModel
import Cryptography
import Foundation
import PropertyTesting
import PythonPrograms
import Testing
import WebPushSimulation

@testable import PushChannels

struct WebPushEncryptionTests {
  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

  @Test("the example of RFC 8291 comes out byte for byte")
  func vector() throws {
    let sender = try ECDHKeyPair(
      scalar: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
      publicPoint: bytes(
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"))
    let keys = try WebPushKeys(
      publicPoint: bytes(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
      authentication: bytes("BTBZMqHH6r4Tts7J_aSIgg"))
    let body = try WebPushEncryption.body(
      for: Array("When I grow up, I want to be a watermelon".utf8), to: keys, from: sender,
      salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(
      Base64URL.encode(body)
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
        + "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWG"
        + "NWQexSgSxsj_Qulcy4a-fN")
  }

  @Test("a message of any length is read by the browser's keys, and the longest has 4096 bytes")
  func lengths() throws {
    var random = SeededGenerator(seed: 8291)
    let limit = ServiceLimits.webPushPayloadSize
    for count in [0, 1, limit - 1, limit]
      + (0..<40).map({ _ in Int.random(in: 0...limit, using: &random) })
    {
      let browser = try BrowserSubscription(endpoint: "https://push.example.com/1")
      let text = SecureRandom.bytes(count: count)
      let body = try WebPushEncryption.body(for: text, to: try browser.keys)
      #expect(body.count == count + 103)
      #expect(body.count <= 4096)
      #expect(try browser.plaintext(of: body) == text, "\(count) bytes")
    }
  }

  @Test("two messages with the same text have nothing in common")
  func freshness() throws {
    let browser = try BrowserSubscription(endpoint: "https://push.example.com/1")
    let first = try WebPushEncryption.body(for: Array("hello".utf8), to: try browser.keys)
    let second = try WebPushEncryption.body(for: Array("hello".utf8), to: try browser.keys)
    #expect(first[..<16] != second[..<16])
    #expect(first[21..<86] != second[21..<86])
    #expect(first[86...] != second[86...])
  }

  @Test("a key of the wrong length or off the curve is refused by its name")
  func badKeys() throws {
    let browser = try BrowserSubscription(endpoint: "https://push.example.com/1")
    var offCurve = browser.keyPair.publicPoint
    offCurve[40] ^= 1
    for point in [offCurve, Array(browser.keyPair.publicPoint.dropLast())] {
      let error = #expect(throws: CryptographyError.self) {
        try WebPushKeys(publicPoint: point, authentication: browser.authentication)
      }
      #expect(error?.reason.hasPrefix("p256dh: ") == true)
    }
    let error = #expect(throws: CryptographyError.self) {
      try WebPushKeys(publicPoint: browser.keyPair.publicPoint, authentication: [1, 2, 3])
    }
    #expect(error?.reason == "auth: must have 16 bytes, not 3")
  }

  @Test("http_ece for Python reads our messages", .enabled(if: Python.isInstalled))
  func readByPython() throws {
    let text = #"{"aps":{"alert":"Grüße ☃"},"ck":{}}"#
    let output = try Python.run(
      """
      import sys, base64, http_ece
      from cryptography.hazmat.primitives.asymmetric import ec
      from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
      key = ec.derive_private_key(int(sys.argv[1]), ec.SECP256R1())
      print(base64.urlsafe_b64encode(key.public_key().public_bytes(
        Encoding.X962, PublicFormat.UncompressedPoint)).decode().rstrip("="))
      """, "123456789123456789")
    let auth = SecureRandom.bytes(count: 16)
    let keys = try WebPushKeys(publicPoint: bytes(output), authentication: auth)
    let body = try WebPushEncryption.body(for: Array(text.utf8), to: keys)
    let read = try Python.run(
      """
      import sys, http_ece
      from cryptography.hazmat.primitives.asymmetric import ec
      key = ec.derive_private_key(int(sys.argv[1]), ec.SECP256R1())
      print(http_ece.decrypt(bytes.fromhex(sys.argv[2]), private_key=key,
        auth_secret=bytes.fromhex(sys.argv[3]), version="aes128gcm").hex())
      """, "123456789123456789", hexadecimal(body), hexadecimal(auth))
    #expect(read == hexadecimal(Array(text.utf8)))
  }

  @Test(
    "what http_ece for Python writes is read with our primitives", .enabled(if: Python.isInstalled))
  func writtenByPython() throws {
    let browser = try BrowserSubscription(endpoint: "https://push.example.com/1")
    let body = try Python.run(
      """
      import sys, http_ece
      from cryptography.hazmat.primitives.asymmetric import ec
      key = ec.generate_private_key(ec.SECP256R1())
      print(http_ece.encrypt(b"from Python", private_key=key, dh=bytes.fromhex(sys.argv[1]),
        auth_secret=bytes.fromhex(sys.argv[2]), version="aes128gcm").hex())
      """, hexadecimal(browser.keyPair.publicPoint), hexadecimal(browser.authentication))
    let text = try browser.plaintext(of: try #require(Self.bytes(hexadecimal: body)))
    #expect(String(decoding: text, as: UTF8.self) == "from Python")
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = Array(text)
    guard digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...($0 + 1)]), radix: 16)
    }
  }
}
