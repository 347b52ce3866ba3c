import COpenSSL

/// AES with a 128-bit key over single blocks (FIPS 197): a permutation of 16 bytes that nobody without the
/// key can tell from one by chance.
///
/// It keeps OpenSSL's context from block to block, so that one takes tens of nanoseconds; use it on one
/// thread at a time.
public final class AES128Block {
  private let context: OpaquePointer

  /// - Precondition: the key has 16 bytes.
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

  /// The block that this one becomes, each as two numbers whose highest byte comes first.
  public func encrypt(_ high: UInt64, _ low: UInt64) -> (high: UInt64, low: UInt64) {
    let plain = (high.bigEndian, low.bigEndian)
    // As long as what is written, for one block after another.
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
