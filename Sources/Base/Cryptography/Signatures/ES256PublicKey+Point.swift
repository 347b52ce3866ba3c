import COpenSSL

extension ES256PublicKey {
  /// Creates a key from the coordinates of its point, as a JSON web key has them (RFC 7518 section
  /// 6.2.1). Each has 32 bytes, big-endian.
  ///
  /// - Throws: ``CryptographyError/Code/invalidKey`` for other lengths, and for a point that is not
  ///   on P-256.
  public init(x: [UInt8], y: [UInt8]) throws(CryptographyError) {
    guard x.count == 32, y.count == 32 else {
      throw CryptographyError(
        .invalidKey, "the coordinates of a P-256 key have 32 bytes, not \(x.count) and \(y.count)")
    }
    guard let handle = PublicKeyInfo.key(PublicKeyInfo.p256(x: x, y: y)) else {
      throw CryptographyError(.invalidKey, "the coordinates are not a point on P-256")
    }
    self.init(handle: handle)
  }
}

extension ES256PublicKey {
  /// Creates a key from its uncompressed point: 0x04, x and y, 65 bytes (SEC 1 section 2.3.3).
  ///
  /// - Throws: ``CryptographyError/Code/invalidKey`` for another length or first byte, and for a
  ///   point that is not on P-256.
  public init(uncompressedPoint point: [UInt8]) throws(CryptographyError) {
    guard point.count == 65, point[0] == 4 else {
      throw CryptographyError(
        .invalidKey,
        "an uncompressed P-256 point has 65 bytes and begins with 4; this one has "
          + "\(point.count)\(point.first.map { " and begins with \($0)" } ?? "")")
    }
    try self.init(x: Array(point[1...32]), y: Array(point[33...64]))
  }

  /// The key's uncompressed point: 0x04, x and y, 65 bytes.
  public var uncompressedPoint: [UInt8] {
    get throws(CryptographyError) {
      var encoded: UnsafeMutablePointer<UInt8>?
      let count = EVP_PKEY_get1_encoded_public_key(handle.pointer, &encoded)
      guard let encoded, count == 65 else {
        throw .openSSL(.libraryFailure, "the public key could not be written as a point")
      }
      defer { petrel_openssl_free(encoded) }
      return Array(UnsafeBufferPointer(start: encoded, count: count))
    }
  }
}
