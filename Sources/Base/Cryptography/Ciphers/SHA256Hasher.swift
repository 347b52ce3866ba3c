import COpenSSL

/// A hasher that computes the SHA-256 hash of bytes that come in pieces. Use a hasher on one thread
/// at a time.
public final class SHA256Hasher {
  private let context: OpaquePointer

  /// Creates a hasher that has no bytes yet.
  public init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
    // The server can do nothing without SHA-256.
    else { preconditionFailure("OpenSSL has no SHA-256: its installation is broken") }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds bytes after those of earlier calls.
  public func update(_ bytes: some Sequence<UInt8>) {
    bytes.withContiguousBytes { _ = EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
  }

  /// Returns the hash of all added bytes: 32 bytes. Do not use the hasher afterwards. A second call
  /// of this method stops the process.
  public func finish() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { output, count in
      let result = EVP_DigestFinal_ex(context, output.baseAddress, nil)
      precondition(result == 1, "a hasher was finished twice")
      count = 32
    }
  }
}
