import Cryptography
import Foundation
import Testing

struct Base64URLTests {
  @Test("Random bytes of every small length agree with Foundation's base64 and come back")
  func agreesWithFoundation() {
    for count in 0..<200 {
      let bytes = SecureRandom.bytes(count: count)
      let expected = Data(bytes).base64EncodedString()
        .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
      let text = Base64URL.encode(bytes)
      #expect(text == expected, "bytes \(bytes)")
      #expect(Base64URL.decode(text) == bytes, "text \(text)")
    }
  }

  @Test(
    "Texts that are not base64url are refused",
    arguments: ["A", "AA=", "AA==", "A+", "A/", "AB", "AAB", "AA A", "AAAAA", "ÄÄ"])
  func refused(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }
}

struct SecureRandomTests {
  @Test("Two draws differ and have the length asked for")
  func draws() {
    let first = SecureRandom.bytes(count: 32)
    #expect(first.count == 32)
    #expect(first != SecureRandom.bytes(count: 32))
    #expect(SecureRandom.bytes(count: 0).isEmpty)
  }
}
