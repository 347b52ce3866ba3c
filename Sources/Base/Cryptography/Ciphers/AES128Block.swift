import COpenSSL

/// The encryption of single blocks of 16 bytes with AES and a 128-bit key (FIPS 197). Different
/// blocks become different blocks. Without the key, the result looks random.
///
/// The object uses the same context of OpenSSL for all blocks, so a block takes tens of
/// nanoseconds. Use the object on one thread at a time.
public final class AES128Block {
  private let context: OpaquePointer

  /// Creates a cipher.
  ///
  /// - Precondition: the key has 16 bytes.
  /// - Throws: ``CryptographyError/Code/libraryFailure`` when OpenSSL has no memory.
  public init(key: [UInt8]) throws(CryptographyError) {
    precondition(key.count == 16, "a key of AES-128 has 16 bytes, not \(key.count)")
    guard let context = EVP_CIPHER_CTX_new() else {
      throw .openSSL(.libraryFailure, "encryption could not begin")
    }
    guard EVP_EncryptInit_ex(context, EVP_aes_128_ecb(), nil, key, nil) == 1,
      EVP_CIPHER_CTX_set_padding(context, 0) == 1
    else {
      EVP_CIPHER_CTX_free(context)
      throw .openSSL(.libraryFailure, "encryption could not begin")
    }
    self.context = context
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// Encrypts a block and returns the encrypted block. `high` has the first eight bytes of the
  /// block, `low` the last eight, both big-endian.
  public func encrypt(_ high: UInt64, _ low: UInt64) -> (high: UInt64, low: UInt64) {
    let plain = (high.bigEndian, low.bigEndian)
    // In ECB mode without padding, one block of input becomes one block of output.
    var sealed: (UInt64, UInt64) = (0, 0)
    var count: Int32 = 0
    let result = withUnsafeBytes(of: plain) { plain in
      withUnsafeMutableBytes(of: &sealed) { sealed in
        EVP_EncryptUpdate(
          context, sealed.bindMemory(to: UInt8.self).baseAddress, &count,
          plain.bindMemory(to: UInt8.self).baseAddress, Int32(plain.count))
      }
    }
    precondition(
      result == 1 && count == 16, "OpenSSL cannot encrypt a block: its installation is broken")
    return (UInt64(bigEndian: sealed.0), UInt64(bigEndian: sealed.1))
  }
}
