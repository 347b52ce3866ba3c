extension HTTPClient {
  /// The permissions and the limits of an ``HTTPClient``. An origin is scheme, host and port of a
  /// URL (``OutboundURL/origin``).
  public struct Configuration: Sendable, Hashable {
    /// The greatest number of requests under way to all servers together. Further requests wait.
    public var exchanges = 512
    /// The greatest number of requests under way to one origin. Further requests wait.
    public var exchangesPerOrigin = 64
    /// The greatest number of waiting requests for all servers together. Further requests fail with
    /// ``OutboundError/Code/overloaded``.
    public var waiting = 20_000
    /// The greatest number of waiting requests for one origin. Further requests fail with
    /// ``OutboundError/Code/overloaded``.
    public var waitingPerOrigin = 10_000
    /// The greatest number of open connections to all servers together. Over HTTP/2, one connection
    /// carries many requests.
    public var connections = 256
    /// The greatest number of open connections to one host.
    public var connectionsPerHost = 8
    /// The longest time from the start of a request to the end of the TLS handshake, in seconds.
    /// Time in the queue does not count. The request then fails with
    /// ``OutboundError/Code/timedOut``.
    public var connectTime = 10.0
    /// The longest time from the start of a request to the end of the answer, in seconds. Time in
    /// the queue does not count. The request then fails with ``OutboundError/Code/timedOut``.
    public var time = 30.0
    /// The largest body of an answer, in bytes. A request with a larger answer fails with
    /// ``OutboundError/Code/answerTooLarge``. The limit does not apply to a body that goes to a
    /// ``HTTPClient/Receiver``.
    public var answerBytes = 16 << 10
    /// The largest size in bytes of an answer's status line and header fields, interim answers
    /// (1xx) included. A request with larger header fields fails with
    /// ``OutboundError/Code/answerTooLarge``.
    public var headerBytes = 16 << 10
    /// The addresses that the client may connect to.
    public var rules = AddressRules()
    /// Whether URLs without TLS (`http:`) are allowed.
    public var allowsHTTP = false
    /// A PEM file with the certificates to trust in place of the system's; `nil` for the system's.
    public var authorityFile: String?
    /// The path of a socket file of this machine (unix(7)). The client connects to this socket and
    /// not to the host of the URL, and ``rules`` do not apply. `nil` for connections over TCP.
    public var socketPath: String?
    /// The value of the `User-Agent` field of requests.
    public var userAgent = "petrel"

    /// Creates a configuration with the defaults.
    public init() {}
  }
}
