import COpenSSL

/// Random bytes that nobody can guess, from OpenSSL's generator.
public enum SecureRandom {
  /// `count` random bytes, for keys, tokens and identifiers.
  ///
  /// - Precondition: `count` is not negative. The process ends if the system has no entropy, for a
  ///   predictable secret is worse than none.
  public static func bytes(count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      let result = RAND_bytes(buffer.baseAddress, Int32(count))
      precondition(result == 1, "OpenSSL's random generator has no entropy")
      initialized = count
    }
  }
}
