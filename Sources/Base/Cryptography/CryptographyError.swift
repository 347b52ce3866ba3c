import COpenSSL
import Errors

/// The error of an operation on a key, signature, certificate, password or encrypted text.
public typealias CryptographyError = CodedError<CryptographyErrorCode>

/// The codes of ``CryptographyError``.
public enum CryptographyErrorCode: String, ErrorCode {
  /// A text or number is not a key that the operation accepts.
  case invalidKey
  /// The bytes are not an ECDSA signature over P-256.
  case invalidSignature
  /// A text is not a certificate in PEM, a certificate does not belong to its key, or its name is
  /// not allowed.
  case invalidCertificate
  /// A name is neither a host name nor an IP address.
  case invalidHostName
  /// An encrypted text was changed, or was encrypted with another key or nonce.
  case notAuthentic
  /// A file could not be written.
  case fileNotWritten
  /// OpenSSL or libsodium failed in a way that is expected only without enough memory or entropy.
  case libraryFailure
}

extension CodedError<CryptographyErrorCode> {
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
