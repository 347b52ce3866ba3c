import Cryptography
import Foundation
import Testing

struct SHA256Tests {
  @Test(
    "The hashes of FIPS 180-4's examples come out",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func knownHashes(text: String, expected: String) {
    #expect(hexadecimal(SHA256.hash(text.utf8)) == expected)
  }

  @Test("A sequence that is not contiguous has the hash of its bytes")
  func notContiguous() {
    let bytes = Array("hello, world".utf8)
    #expect(SHA256.hash(bytes.lazy.map { $0 }) == SHA256.hash(bytes))
    #expect(SHA256.hash(Data(bytes)) == SHA256.hash(bytes))
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }
}
