import COpenSSL

/// A source of unpredictable random bytes: the generator of OpenSSL.
public enum SecureRandom {
  /// Returns `count` random bytes, for keys, tokens and identifiers.
  ///
  /// The process stops if the system has no entropy, because a secret must not be predictable.
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
