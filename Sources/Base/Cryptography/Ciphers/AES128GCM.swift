import COpenSSL

/// The encryption of texts with AES, a 128-bit key and Galois/counter mode (NIST SP 800-38D). A tag
/// of 16 bytes shows whether the encrypted text was changed.
public struct AES128GCM: Sendable {
  /// The number of bytes by which the tag makes a text longer.
  public static let tagSize = 16
  private static let nonceSize = 12

  private let key: [UInt8]

  /// Creates a cipher.
  ///
  /// - Precondition: the key has 16 bytes.
  public init(key: [UInt8]) {
    precondition(key.count == 16, "a key of AES-128 has 16 bytes, not \(key.count)")
    self.key = key
  }

  /// Encrypts a text.
  ///
  /// - Parameter nonce: 12 bytes that were never used with this key before. Any other length stops
  ///   the process.
  /// - Returns: the encrypted text, followed by the tag.
  /// - Throws: ``CryptographyError/Code/libraryFailure``.
  public func seal(_ plaintext: [UInt8], nonce: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let context = try self.context(nonce, encrypting: true)
    defer { EVP_CIPHER_CTX_free(context) }
    var sealed = [UInt8](repeating: 0, count: plaintext.count + Self.tagSize)
    var count: Int32 = 0
    var rest: Int32 = 0
    guard EVP_CipherUpdate(context, &sealed, &count, plaintext, Int32(plaintext.count)) == 1,
      // Counter mode has no last block, so this call writes nothing.
      EVP_CipherFinal_ex(context, &sealed, &rest) == 1
    else { throw .openSSL(.libraryFailure, "a text could not be encrypted") }
    let isTagged = sealed.withUnsafeMutableBytes { bytes in
      EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagSize),
        bytes.baseAddress.map { $0 + plaintext.count })
    }
    guard isTagged == 1 else { throw .openSSL(.libraryFailure, "a text could not be encrypted") }
    return sealed
  }

  /// Decrypts a text that ``seal(_:nonce:)`` encrypted.
  ///
  /// - Parameters:
  ///   - sealed: the encrypted text, followed by the tag.
  ///   - nonce: the 12 bytes with which the text was encrypted. Any other length stops the process.
  /// - Throws: ``CryptographyError/Code/notAuthentic`` when the text was changed, is shorter than
  ///   the tag, or was encrypted with another key or nonce;
  ///   ``CryptographyError/Code/libraryFailure`` when OpenSSL has no memory.
  public func open(_ sealed: [UInt8], nonce: [UInt8]) throws(CryptographyError) -> [UInt8] {
    guard sealed.count >= Self.tagSize else {
      throw CryptographyError(.notAuthentic, "the encrypted text is shorter than its tag")
    }
    let context = try self.context(nonce, encrypting: false)
    defer { EVP_CIPHER_CTX_free(context) }
    let text = Array(sealed.dropLast(Self.tagSize))
    var tag = Array(sealed.suffix(Self.tagSize))
    // One byte more, because OpenSSL needs an address to write to even for an empty text.
    var plaintext = [UInt8](repeating: 0, count: text.count + 1)
    var count: Int32 = 0
    var rest: Int32 = 0
    guard EVP_CipherUpdate(context, &plaintext, &count, text, Int32(text.count)) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagSize), &tag) == 1
    else { throw .openSSL(.libraryFailure, "a text could not be decrypted") }
    guard EVP_CipherFinal_ex(context, &plaintext, &rest) == 1 else {
      ERR_clear_error()
      throw CryptographyError(.notAuthentic, "the encrypted text does not match its tag and key")
    }
    return Array(plaintext.prefix(text.count))
  }

  /// Creates OpenSSL's context for one text. The caller frees the context.
  private func context(
    _ nonce: [UInt8], encrypting: Bool
  ) throws(CryptographyError) -> OpaquePointer {
    precondition(
      nonce.count == Self.nonceSize, "a nonce has \(Self.nonceSize) bytes, not \(nonce.count)")
    guard let context = EVP_CIPHER_CTX_new() else {
      throw .openSSL(.libraryFailure, "encryption could not begin")
    }
    guard
      EVP_CipherInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce, encrypting ? 1 : 0) == 1
    else {
      EVP_CIPHER_CTX_free(context)
      throw .openSSL(.libraryFailure, "encryption could not begin")
    }
    return context
  }
}
