import COpenSSL

/// The error of an operation on a key, signature, certificate, password or encrypted text.
public struct CryptographyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure. Later versions may add codes, so a `switch` needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A text or number is not a key that the operation accepts.
    public static let invalidKey = Code(description: "invalidKey")
    /// The bytes are not an ECDSA signature over P-256.
    public static let invalidSignature = Code(description: "invalidSignature")
    /// A text is not a certificate in PEM, a certificate does not belong to its key, or its name is
    /// not allowed.
    public static let invalidCertificate = Code(description: "invalidCertificate")
    /// A name is neither a host name nor an IP address.
    public static let invalidHostName = Code(description: "invalidHostName")
    /// An encrypted text was changed, or was encrypted with another key or nonce.
    public static let notAuthentic = Code(description: "notAuthentic")
    /// A file could not be written.
    public static let fileNotWritten = Code(description: "fileNotWritten")
    /// OpenSSL or libsodium failed in a way that is expected only without enough memory or entropy.
    public static let libraryFailure = Code(description: "libraryFailure")
  }

  /// The kind of failure.
  public var code: Code
  /// The description of the failure, for a person to read. It never contains a secret.
  public var reason: String

  /// Creates an error.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }

  /// Creates an error that ends with OpenSSL's description of the last failure, and clears the
  /// thread's error queue.
  static func openSSL(_ code: Code, _ reason: String) -> CryptographyError {
    let number = ERR_peek_last_error()
    ERR_clear_error()
    guard number != 0 else { return CryptographyError(code, reason) }
    var text = [CChar](repeating: 0, count: 256)
    ERR_error_string_n(number, &text, text.count)
    let detail = String(
      decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return CryptographyError(code, "\(reason) (OpenSSL: \(detail))")
  }
}
