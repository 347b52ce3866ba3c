import COpenSSL

/// AES with a 128-bit key on single blocks (FIPS 197): a permutation of 16 bytes. Without the key,
/// it cannot be distinguished from a random one.
///
/// The object keeps OpenSSL's context between blocks, so a block takes tens of nanoseconds. Use it
/// on one thread at a time.
public final class AES128Block {
  private let context: OpaquePointer

  /// Creates a cipher.
  ///
  /// - Precondition: the key has 16 bytes.
  /// - Throws: ``CryptographyError/Code/libraryFailure`` without memory.
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

  /// Encrypts a block. A block is two numbers; the highest byte of each comes first.
  public func encrypt(_ high: UInt64, _ low: UInt64) -> (high: UInt64, low: UInt64) {
    let plain = (high.bigEndian, low.bigEndian)
    // ECB mode without padding writes as many bytes as it reads: one block for one block.
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
