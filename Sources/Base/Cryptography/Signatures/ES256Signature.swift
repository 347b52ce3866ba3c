import COpenSSL

/// An ECDSA signature over P-256. It has two encodings: JSON web tokens use the raw encoding,
/// CloudKit's server-to-server requests use the DER encoding.
public struct ES256Signature: Sendable, Hashable {
  /// The numbers r and s, 32 bytes each, big-endian (RFC 7518 section 3.4).
  public let raw: [UInt8]

  /// Creates a signature from its raw encoding.
  ///
  /// - Throws: ``CryptographyError/Code/invalidSignature`` if there are not exactly 64 bytes.
  public init(raw: some Sequence<UInt8>) throws(CryptographyError) {
    self.raw = Array(raw)
    guard self.raw.count == 64 else {
      throw CryptographyError(
        .invalidSignature, "a raw ES256 signature has 64 bytes, not \(self.raw.count)")
    }
  }

  /// Creates a signature from its DER encoding, an `ECDSA-Sig-Value` (RFC 3279 section 2.2.3).
  ///
  /// - Throws: ``CryptographyError/Code/invalidSignature`` for other bytes, for trailing bytes, and
  ///   for numbers over 32 bytes.
  public init(der: some Sequence<UInt8>) throws(CryptographyError) {
    let parsed: [UInt8]? = der.withContiguousBytes { bytes in
      var position = bytes.baseAddress
      guard let signature = d2i_ECDSA_SIG(nil, &position, bytes.count) else { return nil }
      defer { ECDSA_SIG_free(signature) }
      guard position == bytes.baseAddress.map({ $0 + bytes.count }) else { return nil }
      var raw = [UInt8](repeating: 0, count: 64)
      let fits = raw.withUnsafeMutableBufferPointer { raw in
        BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.baseAddress, 32) == 32
          && BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw.baseAddress.map { $0 + 32 }, 32) == 32
      }
      return fits ? raw : nil
    }
    guard let parsed else {
      throw .openSSL(.invalidSignature, "the bytes are not an ES256 signature in DER form")
    }
    raw = parsed
  }

  /// The DER encoding, 8 to 72 bytes.
  public var der: [UInt8] {
    let numbers = Self.integer(raw.prefix(32)) + Self.integer(raw.suffix(32))
    return [0x30, UInt8(numbers.count)] + numbers
  }

  /// Returns the DER INTEGER of a big-endian number. Leading zero bytes are removed, except one if
  /// the number would be negative without it.
  private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(bytes.drop { $0 == 0 })
    if digits.first.map({ $0 & 0x80 != 0 }) ?? true { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
  }
}
