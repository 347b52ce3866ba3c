import Cryptography
import Foundation
import Testing

struct PublicKeyNumbersTests {
  @Test(
    "a signature that the openssl program makes with an RSA key is accepted, a changed one is not")
  func rsa() throws {
    let folder = try TemporaryFolder()
    let key = folder.path("key.pem")
    let message = folder.path("message")
    try Data("hello".utf8).write(to: URL(fileURLWithPath: message))
    _ = try run("genrsa", "-out", key, "2048")
    let text = try run("rsa", "-in", key, "-noout", "-modulus")
    let digits = try #require(text.split(separator: "=").last).filter(\.isHexDigit)
    let modulus = stride(from: 0, to: digits.count, by: 2).compactMap { offset in
      UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
    }
    _ = try run(
      "dgst", "-sha256", "-sign", key, "-out", folder.path("signature"), message)
    var signature = [UInt8](
      try Data(contentsOf: URL(fileURLWithPath: folder.path("signature"))))
    let publicKey = try RS256PublicKey(modulus: modulus, exponent: [1, 0, 1])
    #expect(publicKey.isValid(signature: signature, for: "hello".utf8))
    #expect(
      try RS256PublicKey(modulus: [0] + modulus, exponent: [0, 1, 0, 1])
        .isValid(signature: signature, for: "hello".utf8))
    #expect(!publicKey.isValid(signature: signature, for: "hallo".utf8))
    #expect(!publicKey.isValid(signature: [], for: "hello".utf8))
    signature[100] ^= 1
    #expect(!publicKey.isValid(signature: signature, for: "hello".utf8))
  }

  @Test("RSA keys of unsafe sizes are refused")
  func unsafeRSA() {
    let good = [UInt8](repeating: 0xFF, count: 256)
    for (modulus, exponent) in [
      ([UInt8](repeating: 0xFF, count: 128), [UInt8]([1, 0, 1])), ([], [1, 0, 1]),
      ([0x7F] + good.dropFirst(), [1, 0, 1]), ([UInt8](repeating: 0xFF, count: 1025), [1, 0, 1]),
      (good, []), (good, [1]), (good, [2]), (good, [1, 0, 0, 0, 1]),
    ] {
      #expect(throws: CryptographyError.self) {
        try RS256PublicKey(modulus: modulus, exponent: exponent)
      }
    }
  }

  @Test("a P-256 key is made from its point; what is no point on the curve is refused")
  func curve() throws {
    let key = try ES256PrivateKey()
    let text = try key.publicKey.pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let point = [UInt8](try #require(Data(base64Encoded: text))).suffix(64)
    let publicKey = try ES256PublicKey(
      x: Array(point.prefix(32)), y: Array(point.suffix(32)))
    let signature = try key.signature(for: "hello".utf8)
    #expect(publicKey.isValid(signature: signature, for: "hello".utf8))
    #expect(!publicKey.isValid(signature: signature, for: "hallo".utf8))
    var off = Array(point.suffix(32))
    off[31] ^= 1
    #expect(throws: CryptographyError.self) {
      try ES256PublicKey(x: Array(point.prefix(32)), y: off)
    }
    #expect(throws: CryptographyError.self) {
      try ES256PublicKey(x: Array(point.prefix(31)), y: Array(point.suffix(32)))
    }
  }
}
