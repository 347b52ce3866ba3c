import COpenSSL

/// The encoding of public keys in DER, from their numbers: the `SubjectPublicKeyInfo` of RFC 5280.
enum PublicKeyInfo {
  /// Encodes an RSA key (RFC 8017 appendix A.1.1). Both numbers are big-endian.
  static func rsa(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
    let algorithm: [UInt8] = [
      0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    let numbers = element(0x30, integer(modulus) + integer(exponent))
    return element(0x30, element(0x30, algorithm) + element(0x03, [0] + numbers))
  }

  /// Encodes a point on P-256 (RFC 5480).
  static func p256(x: [UInt8], y: [UInt8]) -> [UInt8] {
    let algorithm: [UInt8] = [
      0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
      0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    return element(0x30, element(0x30, algorithm) + element(0x03, [0, 4] + x + y))
  }

  /// Decodes a public key; `nil` when the bytes are not a valid key, for example when a point is
  /// not on its curve.
  static func key(_ info: [UInt8]) -> KeyHandle? {
    defer { ERR_clear_error() }
    return info.withUnsafeBufferPointer { bytes in
      var position = bytes.baseAddress
      return d2i_PUBKEY(nil, &position, bytes.count).map(KeyHandle.init(owning:))
    }
  }

  /// Encodes a big-endian number as an INTEGER of DER.
  private static func integer(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array(bytes.drop { $0 == 0 })
    // A first bit of 1 would make the number negative.
    return element(0x02, digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits)
  }

  private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
    var length: [UInt8] = []
    var rest = content.count
    while rest > 0 {
      length.insert(UInt8(rest & 0xFF), at: 0)
      rest >>= 8
    }
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }
}
