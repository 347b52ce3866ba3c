import COpenSSL

/// Comparing secrets.
public enum ConstantTime {
  /// Whether the bytes are the same. Takes as long for any bytes of the right length, so that a secret
  /// can't be guessed piece by piece.
  public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return CRYPTO_memcmp(left, right, left.count) == 0
  }
}
