import COpenSSL

/// The public half of an ``ES256PrivateKey``. It checks the signatures of that private key.
public struct ES256PublicKey: Sendable {
  let handle: KeyHandle

  init(handle: KeyHandle) {
    self.handle = handle
  }

  /// Reads a key from PEM (`BEGIN PUBLIC KEY`).
  ///
  /// - Throws: ``CryptographyError/Code/invalidKey`` for other texts and for other curves.
  public init(pem: String) throws(CryptographyError) {
    handle = try KeyHandle.reading(pem, as: "public key") { stream in
      PEM_read_bio_PUBKEY(stream, nil, { _, _, _, _ in -1 }, nil)
    }
  }

  /// The key in PEM (`BEGIN PUBLIC KEY`).
  public var pem: String {
    get throws(CryptographyError) {
      let stream = try MemoryStream()
      guard PEM_write_bio_PUBKEY(stream.pointer, handle.pointer) == 1 else {
        throw .openSSL(.libraryFailure, "the public key could not be written as PEM")
      }
      return stream.text
    }
  }

  /// Whether `signature` was made for `message` with the private key that belongs to this key.
  public func isValid(signature: ES256Signature, for message: some Sequence<UInt8>) -> Bool {
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1 else {
      return false
    }
    let der = signature.der
    return message.withContiguousBytes { bytes in
      EVP_DigestVerify(context, der, der.count, bytes.baseAddress, bytes.count) == 1
    }
  }
}
