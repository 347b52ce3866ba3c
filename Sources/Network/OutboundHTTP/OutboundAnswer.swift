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
public struct OutboundError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure. Later versions may add codes, so a `switch` needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// The host has no address, or no server accepts connections there.
    public static let unreachable = Code(description: "unreachable")
    /// The rules refuse the address that the client tried last (``AddressRules``).
    public static let addressRefused = Code(description: "addressRefused")
    /// The server's certificate is not trusted, or the server has no TLS.
    public static let notTrusted = Code(description: "notTrusted")
    /// The request took longer than ``HTTPClient/Configuration/time`` or
    /// ``HTTPClient/Configuration/connectTime``.
    public static let timedOut = Code(description: "timedOut")
    /// The answer is larger than ``HTTPClient/Configuration/answerBytes`` or
    /// ``HTTPClient/Configuration/headerBytes``.
    public static let answerTooLarge = Code(description: "answerTooLarge")
    /// The connection broke, the answer is not HTTP, or libcurl failed in another way.
    public static let broken = Code(description: "broken")
    /// The name or value of a header field has a byte that is not allowed, such as a line break.
    /// Nothing was sent.
    public static let unsendable = Code(description: "unsendable")
    /// Too many requests are waiting. Nothing was sent.
    public static let overloaded = Code(description: "overloaded")
    /// The client was closed.
    public static let closed = Code(description: "closed")
    /// libcurl, the C library for HTTP, refused the request or cannot start.
    public static let libraryFailure = Code(description: "libraryFailure")
  }

  /// The kind of failure.
  public var code: Code
  /// The description of the failure, with the server's origin, for a person to read.
  public var reason: String

  /// Creates an error.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
