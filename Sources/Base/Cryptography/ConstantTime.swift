import COpenSSL

/// The comparison of secrets.
public enum ConstantTime {
  /// Whether the bytes are equal. The comparison takes the same time for all bytes of the same
  /// length, so an attacker cannot guess a secret byte by byte.
  public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return CRYPTO_memcmp(left, right, left.count) == 0
  }
}
