import COpenSSL

/// A key, signature or certificate that cannot be used or made.
public struct CryptographyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong. More may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A text is not a P-256 key in PEM form.
    public static let invalidKey = Code(description: "invalidKey")
    /// Bytes are not an ECDSA signature over P-256.
    public static let invalidSignature = Code(description: "invalidSignature")
    /// A text is not a certificate in PEM form, or does not belong to the key beside it.
    public static let invalidCertificate = Code(description: "invalidCertificate")
    /// A name is neither a host name nor an IP address.
    public static let invalidHostName = Code(description: "invalidHostName")
    /// An encrypted text does not fit its key, or was changed.
    public static let notAuthentic = Code(description: "notAuthentic")
    /// A file could not be written.
    public static let fileNotWritten = Code(description: "fileNotWritten")
    /// OpenSSL failed where only a lack of memory or entropy is to be expected.
    public static let libraryFailure = Code(description: "libraryFailure")
  }

  public var code: Code
  /// What was wrong, with which value, for people.
  public var reason: String

  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }

  /// An error that ends with what OpenSSL says about it, and clears the thread's error queue.
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
