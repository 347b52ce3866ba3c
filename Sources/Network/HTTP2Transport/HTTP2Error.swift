/// The failure of a connection or of a request.
///
/// ``code`` is for programs, ``reason`` for a person. ``isSafeToRepeat`` says whether a client may
/// send the failed request again.
public struct HTTP2Error: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure. Later versions may add codes, so a `switch` needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A setting, certificate file or key cannot be used.
    public static let invalidConfiguration = Code(description: "invalidConfiguration")
    /// The system has no more descriptors or memory, or the TLS library failed.
    public static let systemFailure = Code(description: "systemFailure")
    /// The host name has no address.
    public static let nameNotResolved = Code(description: "nameNotResolved")
    /// No address of the host accepted a connection.
    public static let notConnected = Code(description: "notConnected")
    /// The proxy cannot be reached, refused the tunnel, or does not answer with HTTP.
    public static let proxyFailed = Code(description: "proxyFailed")
    /// Connecting took longer than ``HTTP2ClientConfiguration/connectTimeout``, or the server
    /// allowed no stream for that time. On a server: the TLS handshake took longer than
    /// ``HTTP2ServerConfiguration/handshakeTimeout``.
    public static let timedOut = Code(description: "timedOut")
    /// The TLS handshake failed, or the peer does not offer HTTP/2.
    public static let tlsFailed = Code(description: "tlsFailed")
    /// The client does not trust the server's certificate, or the certificate is for another host.
    public static let certificateRejected = Code(description: "certificateRejected")
    /// The server cannot listen on its address: the port is taken, or the address is not of this
    /// machine.
    public static let notListening = Code(description: "notListening")
    /// The peer broke a rule of HTTP/2, or sent far more bytes than its answers have.
    public static let protocolViolation = Code(description: "protocolViolation")
    /// The connection broke, or the peer did not answer a PING in time.
    public static let connectionLost = Code(description: "connectionLost")
    /// The connection accepts no more requests, usually because the peer is closing it (GOAWAY).
    /// The peer did not process the request.
    public static let goingAway = Code(description: "goingAway")
    /// The peer refused the request before it processed it (RST_STREAM with REFUSED_STREAM).
    public static let refused = Code(description: "refused")
    /// The peer cancelled the request (RST_STREAM with a code other than REFUSED_STREAM).
    public static let reset = Code(description: "reset")
    /// The answer did not come within ``HTTP2ClientConfiguration/answerTimeout``.
    public static let answerOverdue = Code(description: "answerOverdue")
    /// The answer is larger than ``HTTP2ClientConfiguration/maximumResponseBytes`` or
    /// ``HTTP2ClientConfiguration/maximumHeaderBytes``.
    public static let answerTooLarge = Code(description: "answerTooLarge")
    /// The number of waiting requests is at its limit,
    /// ``HTTP2ClientConfiguration/maximumWaitingRequests``.
    public static let queueFull = Code(description: "queueFull")
    /// This side closed the connection, or the connection came to an orderly end.
    public static let closed = Code(description: "closed")
  }

  /// The kind of failure.
  public var code: Code
  /// The description of the failure, for a person to read. It usually contains the value that
  /// caused the failure.
  public var reason: String
  /// Whether the peer certainly did not process the request, so that a client may send it again.
  /// `false` also means that the client cannot know.
  public var isSafeToRepeat: Bool
  /// The code in the peer's GOAWAY or RST_STREAM frame; `nil` if the peer sent none.
  public var peerCode: HTTP2ErrorCode?

  /// Creates an error.
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

  /// Returns the same failure with another value of ``isSafeToRepeat``. When a connection is lost,
  /// many requests fail, but only some of them reached the peer.
  func forRequest(safeToRepeat: Bool) -> HTTP2Error {
    var error = self
    error.isSafeToRepeat = safeToRepeat
    return error
  }
}
