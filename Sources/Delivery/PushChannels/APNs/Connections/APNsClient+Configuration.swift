import Cryptography
import HTTP2Transport

extension APNsClient {
  /// The address, authentication and limits of a client.
  public struct Configuration: Sendable {
    /// Such as `api.push.apple.com`.
    public var host: String
    /// 443, or 2197 if a firewall permits only that port.
    public var port: Int
    /// The trusted certificates.
    public var trust: TLSTrust
    /// A key or a certificate; clients with the same key should share its token source.
    public var authentication: APNsAuthentication
    /// The proxy to connect through; nil for none.
    public var proxy: HTTPProxy?
    /// The most pushes that wait for a connection or a free stream; further ones are answered as
    /// not sent.
    public var capacity = 10_000
    /// The most connections. A further one is opened only while all streams of the others are in
    /// use and pushes wait.
    public var maximumConnections = 4
    /// How long all connections must have been full before another is opened, since a short burst
    /// does not need one.
    public var fullnessBeforeConnecting: Duration = .milliseconds(50)
    /// How long a connection may be idle before it is closed, unless it is the only one.
    public var idleTimeout: Duration = .seconds(600)
    /// The time limit for connecting, including name resolution and TLS.
    public var connectTimeout: Duration = .seconds(10)
    /// The time limit for an answer. After it the request is cancelled, and the push has an unknown
    /// outcome.
    public var answerTimeout: Duration = .seconds(30)
    /// How long a connection may be silent while answers are due before it is pinged.
    public var pingAfterBusySilence: Duration = .seconds(60)
    /// How long a ping may be unanswered before the connection counts as lost.
    public var pingTimeout: Duration = .seconds(20)
    /// How long ``APNsClient/close()`` waits for answers.
    public var closeTimeout: Duration = .seconds(10)

    public init(
      host: String, port: Int = 443, trust: TLSTrust = .system, authentication: APNsAuthentication
    ) {
      self.host = host
      self.port = port
      self.trust = trust
      self.authentication = authentication
    }

    /// A configuration with a source of tokens of its own.
    public init(
      host: String, port: Int = 443, trust: TLSTrust = .system, key: ES256PrivateKey,
      keyID: String, teamID: String
    ) {
      self.init(
        host: host, port: port, trust: trust,
        authentication: .tokens(ProviderTokenSource(key: key, keyID: keyID, teamID: teamID)))
    }

    var poolLimits: APNsConnectionPool.Limits {
      APNsConnectionPool.Limits(
        connections: max(1, maximumConnections), fullness: fullnessBeforeConnecting,
        idleness: idleTimeout)
    }

    var connection: HTTP2ClientConfiguration {
      var connection = HTTP2ClientConfiguration(host: host, port: port, trust: trust)
      if case .certificate(let identity) = authentication { connection.identity = identity }
      connection.proxy = proxy
      connection.connectTimeout = connectTimeout
      connection.answerTimeout = answerTimeout
      connection.pingAfterBusySilence = pingAfterBusySilence
      connection.pingTimeout = pingTimeout
      // Answers contain at most a short reason.
      connection.maximumResponseBytes = 16_384
      connection.maximumHeaderBytes = 16_384
      return connection
    }
  }
}
