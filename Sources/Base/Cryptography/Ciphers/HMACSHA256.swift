import COpenSSL

/// The authentication of messages with a secret key and SHA-256 (HMAC, RFC 2104).
public enum HMACSHA256 {
  /// Returns the authentication code of `message` with `key`: 32 bytes.
  public static func code(
    for message: some Sequence<UInt8>, key: some Sequence<UInt8>
  ) -> [UInt8] {
    key.withContiguousBytes { key in
      message.withContiguousBytes { message in
        [UInt8](unsafeUninitializedCapacity: 32) { output, count in
          let result = HMAC(
            EVP_sha256(), key.baseAddress, Int32(key.count), message.baseAddress, message.count,
            output.baseAddress, nil)
          precondition(result != nil, "OpenSSL has no HMAC: its installation is broken")
          count = 32
        }
      }
    }
  }

  /// Whether `code` is the authentication code of `message` with `key`. The comparison takes the
  /// same time for all codes of 32 bytes, so an attacker cannot use the time to guess a code byte
  /// by byte.
  public static func isCode(
    _ code: [UInt8], of message: some Sequence<UInt8>, key: some Sequence<UInt8>
  ) -> Bool {
    ConstantTime.areEqual(code, self.code(for: message, key: key))
  }
}
