/// The server and the limits of an ``HTTP2ClientConnection``.
public struct HTTP2ClientConfiguration: Sendable, Hashable {
  /// The host name or IP address of the server. The server's certificate must be for it.
  public var host: String
  /// The port of the server.
  public var port: Int
  /// The authorities whose certificates the client accepts.
  public var trust: TLSTrust
  /// The proxy to go through; `nil` for a direct connection.
  public var proxy: HTTPProxy?
  /// The certificate that the client presents when the server asks for one; `nil` for none.
  public var identity: TLSIdentity?
  /// The time from the start until the peer's settings come: name resolution, proxy and TLS
  /// included. It is also the longest time for which the peer may allow no stream.
  public var connectTimeout: Duration = .seconds(10)
  /// The number of requests that may wait for a stream. Further ones fail with
  /// ``HTTP2Error/Code/queueFull``.
  public var maximumWaitingRequests = 10_000
  /// The number of streams at a time, even if the peer allows more.
  public var maximumConcurrentStreams = 1_000
  /// The largest body of an answer, in bytes. A larger one is cancelled and fails with
  /// ``HTTP2Error/Code/answerTooLarge``.
  public var maximumResponseBytes = 1 << 20
  /// The largest size of an answer's header fields, with interim answers (1xx) and trailers. Each
  /// field counts with 32 bytes beside its own (RFC 9113 section 10.5.1).
  public var maximumHeaderBytes = 1 << 16
  /// The time for a whole answer, from the start of the stream; `nil` for no limit.
  ///
  /// Up to an eighth later the client cancels the request, which fails with
  /// ``HTTP2Error/Code/answerOverdue``. If the peer sent nothing at all meanwhile, the client sends
  /// a PING and no more requests before the peer sends something.
  public var answerTimeout: Duration?
  /// The silence of the peer after which the client sends a PING while requests are open.
  public var pingAfterBusySilence: Duration = .seconds(60)
  /// The silence of the peer after which the client sends a PING while no requests are open.
  public var pingAfterIdleSilence: Duration = .seconds(3600)
  /// The time to answer a PING. The client then closes the connection.
  public var pingTimeout: Duration = .seconds(20)

  /// Creates a configuration with the defaults for all other values.
  public init(host: String, port: Int, trust: TLSTrust = .system) {
    self.host = host
    self.port = port
    self.trust = trust
  }

  /// The `:authority` of requests (RFC 3986 section 3.2): host, and the port unless it is 443.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }

  /// The time limits for ``KeepAlive``.
  var keepAliveIntervals: KeepAlive.Intervals {
    KeepAlive.Intervals(
      whileBusy: pingAfterBusySilence, whileIdle: pingAfterIdleSilence, timeout: pingTimeout)
  }
}
