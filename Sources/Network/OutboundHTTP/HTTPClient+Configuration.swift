extension HTTPClient {
  /// What a client may do, and how much of it.
  public struct Configuration: Sendable, Hashable {
    /// Requests that may be under way in all, and to one origin. The others wait.
    public var exchanges = 512
    public var exchangesPerOrigin = 64
    /// Requests that may wait in all, and for one origin. What comes beyond is refused.
    public var waiting = 20_000
    public var waitingPerOrigin = 10_000
    /// Connections that are open in all, and to one host. Over HTTP/2 one carries many requests.
    public var connections = 256
    public var connectionsPerHost = 8
    /// Seconds to the end of the TLS handshake.
    public var connectTime = 10.0
    /// Seconds to the end of the answer.
    public var time = 30.0
    /// Bytes of an answer's body, and of its headers, that are read.
    public var answerBytes = 16 << 10
    public var headerBytes = 16 << 10
    /// Which addresses may be connected to.
    public var rules = AddressRules()
    /// Whether URLs without TLS are taken.
    public var allowsHTTP = false
    /// A file with the certificates to trust instead of the system's, PEM.
    public var authorityFile: String?
    /// A file of this machine to connect to (unix(7)), whatever host a URL names; ``rules`` do not apply to it.
    public var socketPath: String?
    /// What the server calls itself.
    public var userAgent = "petrel"

    public init() {}
  }
}
