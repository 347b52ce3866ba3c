import COpenSSL

/// A public RSA key for signatures with PKCS #1 v1.5 padding and SHA-256: the `RS256` of JSON web
/// tokens (RFC 7518 section 3.3).
public struct RS256PublicKey: Sendable {
  /// The allowed sizes of a modulus in bits. Smaller keys are not safe. With a larger key, its
  /// publisher could keep the server busy.
  private static let modulusBits = 2048...8192

  private let handle: KeyHandle

  /// Creates a key from its two numbers as bytes, big-endian, as a JSON web key has them.
  ///
  /// - Throws: ``CryptographyError/Code/invalidKey`` for a modulus under 2,048 or over 8,192 bits,
  ///   and for an exponent that is even, below 3 or over 32 bits.
  public init(modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) {
    let digits = modulus.drop { $0 == 0 }
    let bits = digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0)
    guard Self.modulusBits.contains(bits) else {
      throw CryptographyError(
        .invalidKey,
        "an RSA key has \(Self.modulusBits.lowerBound) to \(Self.modulusBits.upperBound) bits, not "
          + "\(bits)")
    }
    let power = exponent.drop { $0 == 0 }
    let value = power.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard power.count <= 4, value >= 3, value % 2 == 1 else {
      throw CryptographyError(
        .invalidKey, "the exponent of an RSA key must be odd and between 3 and 2^32")
    }
    guard let handle = PublicKeyInfo.key(PublicKeyInfo.rsa(modulus: modulus, exponent: exponent))
    else { throw CryptographyError(.invalidKey, "the numbers are not an RSA key") }
    self.handle = handle
  }

  /// Whether `signature` was made for `message` with the private key that belongs to this key.
  public func isValid(
    signature: [UInt8], for message: some Sequence<UInt8>
  ) -> Bool {
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1 else {
      return false
    }
    return message.withContiguousBytes { bytes in
      EVP_DigestVerify(context, signature, signature.count, bytes.baseAddress, bytes.count) == 1
    }
  }
}
