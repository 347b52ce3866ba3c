import COpenSSL

/// The generator of unpredictable random bytes, OpenSSL's.
public enum SecureRandom {
  /// Returns `count` random bytes, for keys, tokens and identifiers.
  ///
  /// The process ends if the system has no entropy, because a predictable secret is worse than
  /// none.
  ///
  /// - Precondition: `count` is not negative.
  public static func bytes(count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      let result = RAND_bytes(buffer.baseAddress, Int32(count))
      precondition(result == 1, "OpenSSL's random generator has no entropy")
      initialized = count
    }
  }
}
