import COpenSSL

/// Message authentication with SHA-256 (RFC 2104).
public enum HMACSHA256 {
  /// The 32-byte code of `message` under `key`.
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

  /// Whether `code` is the one of `message`; takes as long for any code of the right length, so
  /// that it can't be guessed piece by piece.
  public static func isCode(
    _ code: [UInt8], of message: some Sequence<UInt8>, key: some Sequence<UInt8>
  ) -> Bool {
    let expected = self.code(for: message, key: key)
    guard code.count == expected.count else { return false }
    return zip(code, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
