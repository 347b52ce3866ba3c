/// The codes of one kind of error, as an enumeration of texts.
public protocol ErrorCode: RawRepresentable<String>, Hashable, Sendable, CustomStringConvertible {}

extension ErrorCode {
  public var description: String { rawValue }
}

/// An error with a code for programs and a reason for people.
///
/// ```swift
/// public typealias OpenIDError = CodedError<OpenIDErrorCode>
/// public enum OpenIDErrorCode: String, ErrorCode { case unreachable, refused }
/// throw OpenIDError(.refused, "the issuer \(url) refused the code")
/// ```
public struct CodedError<Codes: ErrorCode>: Error, Sendable, Hashable, CustomStringConvertible {
  /// The enumeration of the codes, as `OpenIDError.Code`.
  public typealias Code = Codes

  /// The kind of failure.
  public var code: Code
  /// The description of the failure, with the refused value and often the remedy. It never contains a secret.
  public var reason: String

  /// Creates an error with a code and the sentence for people.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
