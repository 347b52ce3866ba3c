import COpenSSL

/// The comparison of secrets, in a time that does not depend on their contents.
public enum ConstantTime {
  /// Whether the bytes are equal. The time of the comparison depends on the length only, so an
  /// attacker cannot use it to guess a secret byte by byte.
  public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return CRYPTO_memcmp(left, right, left.count) == 0
  }
}
