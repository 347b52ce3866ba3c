extension ES256PublicKey {
  /// A key from the coordinates of its point, 32 bytes each, big-endian, as a JSON web key has them
  /// (RFC 7518, section 6.2.1).
  ///
  /// - Throws: ``CryptographyError/Code/invalidKey`` for other lengths, and for a point that is not
  ///   on P-256.
  public init(x: [UInt8], y: [UInt8]) throws(CryptographyError) {
    guard x.count == 32, y.count == 32 else {
      throw CryptographyError(
        .invalidKey, "the coordinates of a P-256 key have 32 bytes, not \(x.count) and \(y.count)")
    }
    guard let handle = PublicKeyInfo.key(PublicKeyInfo.p256(x: x, y: y)) else {
      throw CryptographyError(.invalidKey, "the coordinates are no point on P-256")
    }
    self.init(handle: handle)
  }
}
