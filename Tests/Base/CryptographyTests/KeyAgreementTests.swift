import Cryptography
import Testing

struct KeyAgreementTests {
  @Test("Both sides come to the same secret, and others to another")
  func agrees() throws {
    let anna = try ECDHKeyPair()
    let ben = try ECDHKeyPair()
    let secret = try anna.sharedSecret(with: ben.publicPoint)
    #expect(secret.count == 32)
    #expect(try ben.sharedSecret(with: anna.publicPoint) == secret)
    #expect(try ECDHKeyPair().sharedSecret(with: anna.publicPoint) != secret)
  }

  @Test("The numbers of RFC 8291's example give its secret")
  func vector() throws {
    let sender = try ECDHKeyPair(
      scalar: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
      publicPoint: bytes(
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"))
    let receiver = try bytes(
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    #expect(
      try sender.sharedSecret(with: receiver)
        == bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"))
  }

  @Test("A peer's point of another form, length or curve is refused")
  func badPoints() throws {
    let pair = try ECDHKeyPair()
    var offCurve = pair.publicPoint
    offCurve[64] ^= 1
    var compressed = pair.publicPoint
    compressed[0] = 3
    for point in [[], [4], offCurve, compressed, pair.publicPoint + [0]] {
      #expect(throws: CryptographyError.self, "\(point.count)") {
        try pair.sharedSecret(with: point)
      }
    }
    #expect(throws: CryptographyError.self) {
      try ECDHKeyPair(scalar: [1, 2, 3], publicPoint: pair.publicPoint)
    }
  }

  @Test("HKDF gives the output of RFC 5869's first and third example")
  func keyDerivation() {
    let secret = [UInt8](repeating: 0x0B, count: 22)
    let key = HKDFSHA256.extract(salt: Array(0...12), secret: secret)
    #expect(
      hexadecimal(key) == "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
    #expect(
      hexadecimal(HKDFSHA256.expand(key, info: Array(0xF0...0xF9), count: 42))
        == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    let unsalted = HKDFSHA256.extract(salt: [], secret: secret)
    #expect(
      hexadecimal(HKDFSHA256.expand(unsalted, info: [], count: 42))
        == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
  }

  @Test("A text of any length survives encryption, and none that was changed is opened")
  func encryption() throws {
    let cipher = AES128GCM(key: SecureRandom.bytes(count: 16))
    let nonce = SecureRandom.bytes(count: 12)
    for count in [0, 1, 15, 16, 17, 4000] {
      let text = SecureRandom.bytes(count: count)
      let sealed = try cipher.seal(text, nonce: nonce)
      #expect(sealed.count == count + 16)
      #expect(try cipher.open(sealed, nonce: nonce) == text)
      for place in [0, sealed.count / 2, sealed.count - 1] {
        var changed = sealed
        changed[place] ^= 0x80
        let error = #expect(throws: CryptographyError.self) {
          try cipher.open(changed, nonce: nonce)
        }
        #expect(error?.code == .notAuthentic)
      }
    }
    #expect(throws: CryptographyError.self) { try cipher.open([1, 2, 3], nonce: nonce) }
  }

  @Test("The second example of the GCM specification comes out as printed")
  func encryptionVector() throws {
    let cipher = AES128GCM(key: [UInt8](repeating: 0, count: 16))
    let sealed = try cipher.seal(
      [UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 12))
    #expect(
      hexadecimal(sealed) == "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf")
  }

  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
