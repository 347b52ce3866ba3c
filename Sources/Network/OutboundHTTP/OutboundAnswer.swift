import Errors

/// The answer of another server.
public struct OutboundAnswer: Sendable, Hashable {
  /// The HTTP status, such as 201.
  public var status: Int
  /// The header fields, with names in lower case. If a field is repeated, its last value is here.
  public var headers: [String: String]
  /// The body; empty if the answer has none, or if a ``HTTPClient/Receiver`` got it.
  public var body: [UInt8]

  /// Creates an answer.
  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// The reason why a request has no answer.
public typealias OutboundError = CodedError<OutboundErrorCode>

/// The codes of ``OutboundError``.
public enum OutboundErrorCode: String, ErrorCode {
  /// The host has no address, or no server accepts connections there.
  case unreachable
  /// The rules refuse the address that the client tried last (``AddressRules``).
  case addressRefused
  /// The server's certificate is not trusted, or the server has no TLS.
  case notTrusted
  /// The request took longer than ``HTTPClient/Configuration/time`` or
  /// ``HTTPClient/Configuration/connectTime``.
  case timedOut
  /// The answer is larger than ``HTTPClient/Configuration/answerBytes`` or
  /// ``HTTPClient/Configuration/headerBytes``.
  case answerTooLarge
  /// The connection broke, the answer is not HTTP, or libcurl failed in another way.
  case broken
  /// A header field has a byte that is not allowed, such as a line break. Nothing was sent.
  case unsendable
  /// Too many requests are waiting. Nothing was sent.
  case overloaded
  /// The client was closed.
  case closed
  /// libcurl, the C library for HTTP, refused the request or cannot start.
  case libraryFailure
}
