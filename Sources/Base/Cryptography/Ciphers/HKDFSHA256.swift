/// The key derivation function HKDF with SHA-256 (RFC 5869).
public enum HKDFSHA256 {
  /// Derives a key of 32 bytes from a secret, for ``expand(_:info:count:)`` (RFC 5869 section 2.2).
  ///
  /// - Parameter salt: bytes that need not be secret; may be empty.
  public static func extract(
    salt: some Sequence<UInt8>, secret: some Sequence<UInt8>
  ) -> [UInt8] {
    HMACSHA256.code(for: secret, key: salt)
  }

  /// Derives `count` bytes from a key that ``extract(salt:secret:)`` returned (RFC 5869 section
  /// 2.3). `info` names the purpose: other purposes get other bytes.
  ///
  /// - Precondition: `count` is 0 to 8,160, the size of 255 hashes.
  public static func expand(
    _ key: [UInt8], info: some Sequence<UInt8>, count: Int
  ) -> [UInt8] {
    precondition((0...8160).contains(count), "HKDF gives up to 8160 bytes, not \(count)")
    let info = Array(info)
    var output: [UInt8] = []
    var block: [UInt8] = []
    var number: UInt8 = 0
    while output.count < count {
      number += 1
      block = HMACSHA256.code(for: block + info + [number], key: key)
      output += block
    }
    return Array(output.prefix(count))
  }
}
