import COpenSSL

/// SHA-256 of bytes that come in pieces.
public final class SHA256Hasher {
  private let context: OpaquePointer

  public init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
    // Nothing that is asked of the server can be done without it.
    else { preconditionFailure("OpenSSL has no SHA-256: its installation is broken") }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  public func update(_ bytes: some Sequence<UInt8>) {
    bytes.withContiguousBytes { _ = EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
  }

  /// The hash of all bytes so far; the hasher is used up.
  public func finish() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { output, count in
      let result = EVP_DigestFinal_ex(context, output.baseAddress, nil)
      precondition(result == 1, "a hasher was finished twice")
      count = 32
    }
  }
}
