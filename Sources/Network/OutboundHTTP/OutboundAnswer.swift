/// What came back from someone else's server.
public struct OutboundAnswer: Sendable, Hashable {
  public var status: Int
  /// Names in lower case. Of a field that stands several times, the last.
  public var headers: [String: String]
  public var body: [UInt8]

  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Why there is no answer.
public struct OutboundError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong. More may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// The host has no address, or nobody listens there.
    public static let unreachable = Code(description: "unreachable")
    /// All of the host's addresses are ones that may not be connected to.
    public static let addressRefused = Code(description: "addressRefused")
    /// The host could not show that it is who it should be, or speaks no TLS.
    public static let notTrusted = Code(description: "notTrusted")
    /// It took too long.
    public static let timedOut = Code(description: "timedOut")
    /// The answer is larger than is read.
    public static let answerTooLarge = Code(description: "answerTooLarge")
    /// The connection broke, or what came over it was no HTTP.
    public static let broken = Code(description: "broken")
    /// A header field of the request has a name or value that would be something else in the
    /// request; nothing was sent.
    public static let unsendable = Code(description: "unsendable")
    /// Too many requests wait already; nothing was sent.
    public static let overloaded = Code(description: "overloaded")
    /// The client was closed.
    public static let closed = Code(description: "closed")
    /// libcurl could not be used.
    public static let libraryFailure = Code(description: "libraryFailure")
  }

  public var code: Code
  /// What happened, for people.
  public var reason: String

  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
