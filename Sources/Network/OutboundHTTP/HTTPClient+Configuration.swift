extension HTTPClient {
  /// The permissions and the limits of an ``HTTPClient``.
  public struct Configuration: Sendable, Hashable {
    /// The number of requests under way, in all. Further requests wait.
    public var exchanges = 512
    /// The number of requests under way to one origin. Further requests wait.
    public var exchangesPerOrigin = 64
    /// The number of waiting requests, in all. Further requests fail with
    /// ``OutboundError/Code/overloaded``.
    public var waiting = 20_000
    /// The number of waiting requests for one origin. Further requests fail with
    /// ``OutboundError/Code/overloaded``.
    public var waitingPerOrigin = 10_000
    /// The number of open connections, in all. Over HTTP/2, one connection carries many requests.
    public var connections = 256
    /// The number of open connections to one host.
    public var connectionsPerHost = 8
    /// The seconds from the start of a request to the end of the TLS handshake.
    public var connectTime = 10.0
    /// The seconds from the start of a request to the end of the answer.
    public var time = 30.0
    /// The largest body of an answer in bytes; a larger one fails with
    /// ``OutboundError/Code/answerTooLarge``.
    public var answerBytes = 16 << 10
    /// The largest size of an answer's header fields in bytes, interim answers included; larger
    /// ones fail with ``OutboundError/Code/answerTooLarge``.
    public var headerBytes = 16 << 10
    /// The addresses that the client may connect to.
    public var rules = AddressRules()
    /// Whether URLs without TLS (`http:`) are allowed.
    public var allowsHTTP = false
    /// A PEM file with the certificates to trust in place of the system's; `nil` for the system's.
    public var authorityFile: String?
    /// The path of a socket file of this machine (unix(7)) to connect to, whatever host a URL
    /// names; `nil` for TCP. ``rules`` do not apply to the file.
    public var socketPath: String?
    /// The `User-Agent` of requests.
    public var userAgent = "petrel"

    /// Creates a configuration with the defaults.
    public init() {}
  }
}
