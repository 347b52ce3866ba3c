import Cryptography
import Foundation
import Testing

struct ES256Tests {
  @Test("A signature is valid for its message and key, and for no other")
  func signs() throws {
    let key = try ES256PrivateKey()
    let signature = try key.signature(for: "one".utf8)
    #expect(signature.raw.count == 64)
    #expect(key.publicKey.isValid(signature: signature, for: "one".utf8))
    #expect(!key.publicKey.isValid(signature: signature, for: "two".utf8))
    #expect(!(try ES256PrivateKey().publicKey.isValid(signature: signature, for: "one".utf8)))
    for index in [0, 31, 32, 63] {
      var raw = signature.raw
      raw[index] ^= 1
      #expect(!key.publicKey.isValid(signature: try ES256Signature(raw: raw), for: "one".utf8))
    }
  }

  @Test("Keys survive the way through PEM")
  func pem() throws {
    let key = try ES256PrivateKey()
    let text = try key.pem
    #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let signature = try ES256PrivateKey(pem: text).signature(for: "message".utf8)
    let publicText = try key.publicKey.pem
    #expect(publicText.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
    #expect(try ES256PublicKey(pem: publicText).isValid(signature: signature, for: "message".utf8))
  }

  @Test("Raw and DER forms of many signatures turn into each other")
  func forms() throws {
    let key = try ES256PrivateKey()
    for number in 0..<200 {
      let signature = try key.signature(for: "\(number)".utf8)
      #expect(try ES256Signature(der: signature.der) == signature, "raw \(signature.raw)")
    }
  }

  @Test("Small and large numbers have the DER form with no needless zeros")
  func shortNumbers() throws {
    var raw = [UInt8](repeating: 0, count: 64)
    raw[31] = 0x80
    raw[63] = 0x01
    let signature = try ES256Signature(raw: raw)
    #expect(signature.der == [0x30, 7, 2, 2, 0, 0x80, 2, 1, 1])
    #expect(try ES256Signature(der: signature.der) == signature)
  }

  @Test("The openssl tool's keys are read, and it accepts our signatures")
  func openSSLTool() throws {
    let folder = try TemporaryFolder()
    let keyFile = folder.path("key.pem")
    // Apple's instructions for server-to-server keys give this format: SEC 1, after a block of
    // parameters.
    try run("ecparam", "-name", "prime256v1", "-genkey", "-out", keyFile)
    let key = try ES256PrivateKey(pem: String(contentsOfFile: keyFile, encoding: .utf8))
    let message = "a message"
    try Data(message.utf8).write(to: folder.url("message"))
    try Data(key.signature(for: message.utf8).der).write(to: folder.url("signature"))
    try Data(key.publicKey.pem.utf8).write(to: folder.url("public.pem"))
    let answer = try run(
      "dgst", "-sha256", "-verify", folder.path("public.pem"), "-signature",
      folder.path("signature"), folder.path("message"))
    #expect(answer == "Verified OK\n")
  }

  @Test("A key on another curve is refused by its name")
  func otherCurve() throws {
    let folder = try TemporaryFolder()
    try run(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out",
      folder.path("key.pem"))
    let text = try String(contentsOfFile: folder.path("key.pem"), encoding: .utf8)
    let error = #expect(throws: CryptographyError.self) { try ES256PrivateKey(pem: text) }
    #expect(error?.code == .invalidKey)
    #expect(error?.reason.contains("secp384r1") == true)
  }

  @Test("An encrypted key is refused without a question on the terminal")
  func encrypted() throws {
    let folder = try TemporaryFolder()
    try run(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass",
      "pass:secret", "-out", folder.path("key.pem"))
    let text = try String(contentsOfFile: folder.path("key.pem"), encoding: .utf8)
    let error = #expect(throws: CryptographyError.self) { try ES256PrivateKey(pem: text) }
    #expect(error?.code == .invalidKey)
  }

  @Test(
    "Texts that are no keys are refused",
    arguments: ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
  func noKeys(text: String) {
    #expect(throws: CryptographyError.self) { try ES256PrivateKey(pem: text) }
    #expect(throws: CryptographyError.self) { try ES256PublicKey(pem: text) }
  }

  @Test("Bytes that are no signatures are refused")
  func noSignatures() throws {
    #expect(throws: CryptographyError.self) { try ES256Signature(raw: [1, 2, 3]) }
    #expect(throws: CryptographyError.self) { try ES256Signature(der: [1, 2, 3]) }
    let der = try ES256PrivateKey().signature(for: "x".utf8).der
    #expect(throws: CryptographyError.self) { try ES256Signature(der: der + [0]) }
    // r of 33 bytes.
    let long = [0x30, 38, 2, 33, 1] + [UInt8](repeating: 0, count: 32) + [2, 1, 1]
    #expect(throws: CryptographyError.self) { try ES256Signature(der: long) }
  }

  @Test("One key signs on many threads at a time")
  func concurrently() throws {
    let key = try ES256PrivateKey()
    DispatchQueue.concurrentPerform(iterations: 100) { index in
      let signature = try? key.signature(for: "\(index)".utf8)
      #expect(signature.map { key.publicKey.isValid(signature: $0, for: "\(index)".utf8) } == true)
    }
  }
}
