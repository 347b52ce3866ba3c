import COpenSSL

/// The hash function SHA-256 (FIPS 180-4).
public enum SHA256 {
  /// Returns the hash of `bytes`, 32 bytes.
  ///
  /// ```swift
  /// SHA256.hash("abc".utf8).first  // 0xBA
  /// ```
  /// - Complexity: O(*n*), where *n* is the number of bytes. Contiguous collections are not copied.
  public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.withContiguousBytes { input in
      [UInt8](unsafeUninitializedCapacity: 32) { output, count in
        let result = COpenSSL.SHA256(input.baseAddress, input.count, output.baseAddress)
        precondition(result != nil, "OpenSSL has no SHA-256: its installation is broken")
        count = 32
      }
    }
  }
}

extension Sequence<UInt8> {
  /// Calls `body` with the bytes in one contiguous buffer. Copies them only if they are not
  /// contiguous.
  func withContiguousBytes<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    if let result = try withContiguousStorageIfAvailable(body) { return result }
    return try Array(self).withUnsafeBufferPointer(body)
  }
}
