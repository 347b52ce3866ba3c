/// The server and the limits of an ``HTTP2ClientConnection``.
public struct HTTP2ClientConfiguration: Sendable, Hashable {
  /// The host name or IP address of the server. The server's certificate must contain this name or
  /// address.
  public var host: String
  /// The port of the server.
  public var port: Int
  /// The authorities whose certificates the client accepts.
  public var trust: TLSTrust
  /// The proxy to go through; `nil` for a direct connection.
  public var proxy: HTTPProxy?
  /// The certificate that the client presents when the server asks for one; `nil` for none.
  public var identity: TLSIdentity?
  /// The longest time from the start until the peer's settings come. It includes name resolution,
  /// proxy and TLS. A peer that later sets its limit of streams to 0 has the same time to raise the
  /// limit. At the end of the time, the connection ends with ``HTTP2Error/Code/timedOut``.
  public var connectTimeout: Duration = .seconds(10)
  /// The number of requests that may wait for a stream. Further requests fail with
  /// ``HTTP2Error/Code/queueFull``.
  public var maximumWaitingRequests = 10_000
  /// The greatest number of streams at a time, even if the peer allows more.
  public var maximumConcurrentStreams = 1_000
  /// The largest body of an answer, in bytes. If an answer is larger, the client cancels its
  /// request, which fails with ``HTTP2Error/Code/answerTooLarge``.
  public var maximumResponseBytes = 1 << 20
  /// The largest size of an answer's header fields in bytes, including interim answers (1xx) and
  /// trailers. The size of a field is its name, its value and 32 bytes (RFC 9113 section 10.5.1). A
  /// larger answer fails with ``HTTP2Error/Code/answerTooLarge``.
  public var maximumHeaderBytes = 1 << 16
  /// The longest time for a whole answer, from the start of the stream; `nil` for no limit.
  ///
  /// The client checks the streams at intervals, so it cancels a request up to an eighth of this
  /// time late. The request fails with ``HTTP2Error/Code/answerOverdue``. If the peer sent nothing
  /// since the start of the stream, the client sends a PING. It then sends no more requests until
  /// the peer sends something.
  public var answerTimeout: Duration?
  /// The client sends a PING when requests are open and the peer has sent nothing for this time.
  public var pingAfterBusySilence: Duration = .seconds(60)
  /// The client sends a PING when no requests are open and the peer has sent nothing for this time.
  public var pingAfterIdleSilence: Duration = .seconds(3600)
  /// The time that the peer has to send any bytes after a PING. The client closes the connection
  /// when this time is over.
  public var pingTimeout: Duration = .seconds(20)

  /// Creates a configuration with the defaults for all other values.
  public init(host: String, port: Int, trust: TLSTrust = .system) {
    self.host = host
    self.port = port
    self.trust = trust
  }

  /// The `:authority` of requests (RFC 3986 section 3.2), without the port if it is 443.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }

  var keepAliveIntervals: KeepAlive.Intervals {
    KeepAlive.Intervals(
      whileBusy: pingAfterBusySilence, whileIdle: pingAfterIdleSilence, timeout: pingTimeout)
  }
}
