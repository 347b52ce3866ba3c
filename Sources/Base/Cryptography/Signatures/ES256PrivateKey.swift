import COpenSSL

/// A private key for ECDSA over P-256 with SHA-256. JSON web tokens (`ES256`, RFC 7518), APNs
/// provider tokens and CloudKit's server-to-server requests use it.
///
/// ```swift
/// let key = try ES256PrivateKey(pem: String(contentsOfFile: "AuthKey.p8", encoding: .utf8))
/// let signature = try key.signature(for: "header.claims".utf8)
/// ```
public struct ES256PrivateKey: Sendable {
  let handle: KeyHandle

  /// Creates a new key.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFailure`` if OpenSSL cannot create a key.
  public init() throws(CryptographyError) {
    guard let pointer = petrel_generate_p256_key() else {
      throw .openSSL(.libraryFailure, "a P-256 key could not be made")
    }
    handle = KeyHandle(owning: pointer)
  }

  /// Reads a key from PEM: PKCS#8 (`BEGIN PRIVATE KEY`, as in Apple's `.p8` files) or SEC 1 (`BEGIN
  /// EC PRIVATE KEY`).
  ///
  /// - Throws: ``CryptographyError/Code/invalidKey`` for other texts, for other curves, and for
  ///   keys that are encrypted with a password.
  public init(pem: String) throws(CryptographyError) {
    handle = try KeyHandle.reading(pem, as: "private key") { stream in
      // The callback refuses an encrypted key. Without a callback, OpenSSL asks for a password on
      // the terminal.
      PEM_read_bio_PrivateKey(stream, nil, { _, _, _, _ in -1 }, nil)
    }
  }

  /// The key in PEM, PKCS#8 and not encrypted.
  public var pem: String {
    get throws(CryptographyError) {
      let stream = try MemoryStream()
      guard
        PEM_write_bio_PKCS8PrivateKey(stream.pointer, handle.pointer, nil, nil, 0, nil, nil) == 1
      else { throw .openSSL(.libraryFailure, "the private key could not be written as PEM") }
      return stream.text
    }
  }

  /// The public half of the key.
  public var publicKey: ES256PublicKey { ES256PublicKey(handle: handle) }

  /// Signs the SHA-256 hash of `message`. Two signatures of the same message differ, because ECDSA
  /// uses random numbers.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFailure``.
  public func signature(for message: some Sequence<UInt8>) throws(CryptographyError)
    -> ES256Signature
  {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1 else {
      throw .openSSL(.libraryFailure, "signing could not begin")
    }
    // A DER signature over P-256 has at most 72 bytes.
    var der = [UInt8](repeating: 0, count: 80)
    var count = der.count
    let result = message.withContiguousBytes { bytes in
      EVP_DigestSign(context, &der, &count, bytes.baseAddress, bytes.count)
    }
    guard result == 1 else { throw .openSSL(.libraryFailure, "the message could not be signed") }
    return try ES256Signature(der: der.prefix(count))
  }
}
