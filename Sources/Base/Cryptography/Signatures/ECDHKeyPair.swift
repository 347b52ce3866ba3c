import COpenSSL

/// A key pair on the curve P-256 for ECDH (SEC 1 section 3.3.1). The owners of two pairs use it to
/// compute the same secret.
public struct ECDHKeyPair: Sendable {
  private let handle: KeyHandle
  /// The public key as an uncompressed point: 0x04, x and y; 65 bytes.
  public let publicPoint: [UInt8]

  /// Creates a new pair.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFailure`` if OpenSSL cannot create a key.
  public init() throws(CryptographyError) {
    let key = try ES256PrivateKey()
    handle = key.handle
    publicPoint = try key.publicKey.uncompressedPoint
  }

  /// Creates a pair from its numbers.
  ///
  /// - Parameters:
  ///   - scalar: the private key, 32 bytes, big-endian.
  ///   - publicPoint: the public key that belongs to the private key, 65 bytes. It is not checked
  ///     that the two belong together.
  /// - Throws: ``CryptographyError/Code/invalidKey`` for other lengths, and for a point that is not
  ///   on P-256.
  public init(scalar: [UInt8], publicPoint: [UInt8]) throws(CryptographyError) {
    guard scalar.count == 32 else {
      throw CryptographyError(.invalidKey, "a P-256 scalar has 32 bytes, not \(scalar.count)")
    }
    _ = try ES256PublicKey(uncompressedPoint: publicPoint)
    // An `ECPrivateKey` of RFC 5915, with the name of the curve and the public key.
    let der: [UInt8] =
      [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20] + scalar
      + [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
      + [0xA1, 0x44, 0x03, 0x42, 0x00] + publicPoint
    let pointer = der.withUnsafeBufferPointer { bytes in
      var position = bytes.baseAddress
      return d2i_PrivateKey(EVP_PKEY_EC, nil, &position, bytes.count)
    }
    guard let pointer else { throw .openSSL(.invalidKey, "the numbers are not a P-256 key pair") }
    handle = KeyHandle(owning: pointer)
    self.publicPoint = publicPoint
  }

  /// Returns the secret that this pair shares with the owner of `peer`: the x coordinate of the
  /// computed point, 32 bytes.
  ///
  /// - Parameter peer: the other public key, 65 bytes.
  /// - Throws: ``CryptographyError/Code/invalidKey`` when `peer` is not a point on P-256.
  public func sharedSecret(with peer: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let other = try ES256PublicKey(uncompressedPoint: peer)
    let context = EVP_PKEY_CTX_new(handle.pointer, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var secret = [UInt8](repeating: 0, count: 32)
    var count = secret.count
    guard EVP_PKEY_derive_init(context) == 1,
      EVP_PKEY_derive_set_peer(context, other.handle.pointer) == 1,
      EVP_PKEY_derive(context, &secret, &count) == 1, count == secret.count
    else { throw .openSSL(.libraryFailure, "the shared secret could not be computed") }
    return secret
  }
}
