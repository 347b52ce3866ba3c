/// A connection or a request that failed.
public struct HTTP2Error: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong. More may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A setting, certificate file or key cannot be used.
    public static let invalidConfiguration = Code(description: "invalidConfiguration")
    /// The system refused a descriptor, a thread or memory.
    public static let systemFailure = Code(description: "systemFailure")
    /// The host name has no address.
    public static let nameNotResolved = Code(description: "nameNotResolved")
    /// No address of the host accepted a connection.
    public static let notConnected = Code(description: "notConnected")
    /// The proxy cannot be reached, refused to connect, or is none.
    public static let proxyFailed = Code(description: "proxyFailed")
    /// Connecting took longer than allowed.
    public static let timedOut = Code(description: "timedOut")
    /// The TLS handshake failed, or the peer does not speak HTTP/2.
    public static let tlsFailed = Code(description: "tlsFailed")
    /// The peer's certificate is not trusted, or is for another host.
    public static let certificateRejected = Code(description: "certificateRejected")
    /// The address to listen on cannot be had.
    public static let notListening = Code(description: "notListening")
    /// The peer broke the rules of HTTP/2.
    public static let protocolViolation = Code(description: "protocolViolation")
    /// The connection broke, or the peer went silent.
    public static let connectionLost = Code(description: "connectionLost")
    /// The peer is closing the connection (GOAWAY) and did not take up the request.
    public static let goingAway = Code(description: "goingAway")
    /// The peer refused the request before looking at it (RST_STREAM, REFUSED_STREAM).
    public static let refused = Code(description: "refused")
    /// The peer broke the request off (RST_STREAM with another code).
    public static let reset = Code(description: "reset")
    /// The answer did not come within the limit of the configuration.
    public static let answerOverdue = Code(description: "answerOverdue")
    /// The answer is larger than the limit of the configuration.
    public static let answerTooLarge = Code(description: "answerTooLarge")
    /// As many requests are waiting as the configuration allows.
    public static let queueFull = Code(description: "queueFull")
    /// The connection was closed on this side.
    public static let closed = Code(description: "closed")
  }

  public var code: Code
  /// What went wrong, with which value, for people.
  public var reason: String
  /// Whether the peer certainly did not act on the request, so that it may be sent again. False for
  /// a request whose fate is unknown.
  public var isSafeToRepeat: Bool
  /// The code that the peer gave in GOAWAY or RST_STREAM.
  public var peerCode: HTTP2ErrorCode?

  public init(
    _ code: Code, _ reason: String, isSafeToRepeat: Bool = true, peerCode: HTTP2ErrorCode? = nil
  ) {
    self.code = code
    self.reason = reason
    self.isSafeToRepeat = isSafeToRepeat
    self.peerCode = peerCode
  }

  public var description: String { reason }

  static func queueFull(limit: Int) -> HTTP2Error {
    HTTP2Error(.queueFull, "\(limit) requests are waiting, which is the limit")
  }

  /// The same failure seen by a request whose fate it leaves open, or not.
  func forRequest(safeToRepeat: Bool) -> HTTP2Error {
    var error = self
    error.isSafeToRepeat = safeToRepeat
    return error
  }
}
