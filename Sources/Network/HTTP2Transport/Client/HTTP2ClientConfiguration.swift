/// Where an ``HTTP2ClientConnection`` goes, and its limits.
public struct HTTP2ClientConfiguration: Sendable, Hashable {
  /// Host name or IP address; the server's certificate must be for it.
  public var host: String
  public var port: Int
  public var trust: TLSTrust
  /// The way there: nil for a direct one.
  public var proxy: HTTPProxy?
  /// What this end shows when the server asks for a certificate; nil for none.
  public var identity: TLSIdentity?
  /// How long it may take until the peer's settings have come, name resolution, the proxy and TLS
  /// included; and how long the peer may allow no stream at all.
  public var connectTimeout: Duration = .seconds(10)
  /// So many requests may wait for a free stream; more are refused with
  /// ``HTTP2Error/Code/queueFull``.
  public var maximumWaitingRequests = 10_000
  /// So many streams are opened at a time, even if the peer allows more.
  public var maximumConcurrentStreams = 1_000
  /// An answer with a larger body is broken off, with ``HTTP2Error/Code/answerTooLarge``.
  public var maximumResponseBytes = 1 << 20
  /// The same for an answer's header fields, those of interim answers (1xx) and trailers included,
  /// each with 32 bytes beside its own (RFC 9113, section 10.5.1).
  public var maximumHeaderBytes = 1 << 16
  /// A request that has no whole answer so long after it got its stream, or up to an eighth longer,
  /// is broken off, with ``HTTP2Error/Code/answerOverdue``; nil for no limit. If nothing at all came
  /// from the peer meanwhile, it is asked for a sign of life, and gets no more requests before.
  public var answerTimeout: Duration?
  /// A peer that was silent for so long is asked for a sign of life (PING) while requests are open.
  public var pingAfterBusySilence: Duration = .seconds(60)
  /// The same while no requests are open.
  public var pingAfterIdleSilence: Duration = .seconds(3600)
  /// A peer that does not answer a PING for so long counts as gone.
  public var pingTimeout: Duration = .seconds(20)

  public init(host: String, port: Int, trust: TLSTrust = .system) {
    self.host = host
    self.port = port
    self.trust = trust
  }

  /// The `:authority` of requests (RFC 3986 section 3.2).
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }

  var keepAliveIntervals: KeepAlive.Intervals {
    KeepAlive.Intervals(
      whileBusy: pingAfterBusySilence, whileIdle: pingAfterIdleSilence, timeout: pingTimeout)
  }
}
