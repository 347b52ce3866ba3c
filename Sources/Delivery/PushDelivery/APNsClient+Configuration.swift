import Cryptography
import HTTP2Transport

extension APNsClient {
  /// Where a client sends, in whose name, and its limits.
  public struct Configuration: Sendable {
    /// Such as `api.push.apple.com`.
    public var host: String
    /// 443, or 2197 where a firewall lets only that pass.
    public var port: Int
    /// Whose certificates to accept.
    public var trust: TLSTrust
    /// Key or certificate; clients with the same key should share its source of tokens.
    public var authentication: APNsAuthentication
    /// The proxy to connect through; nil for none.
    public var proxy: HTTPProxy?
    /// Pushes that may wait for a connection or a free stream; one more is answered as not sent.
    public var capacity = 10_000
    /// So many connections are opened at most; more than one only while all streams of the others
    /// are in use and pushes wait.
    public var maximumConnections = 4
    /// How long all connections must have been full before another is opened: a short rush is not
    /// worth one.
    public var fullnessBeforeConnecting: Duration = .milliseconds(50)
    /// A connection that had nothing to do for so long is closed, unless it is the only one.
    public var idleTimeout: Duration = .seconds(600)
    /// How long connecting may take, name resolution and TLS included.
    public var connectTimeout: Duration = .seconds(10)
    /// A push that has no answer after so long has an unknown fate, and its request is broken off.
    public var answerTimeout: Duration = .seconds(30)
    /// A connection that was silent for so long while answers are due is asked for a sign of life.
    public var pingAfterBusySilence: Duration = .seconds(60)
    /// A connection that does not answer that for so long counts as lost.
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
      // Answers have a short reason at most.
      connection.maximumResponseBytes = 16_384
      connection.maximumHeaderBytes = 16_384
      return connection
    }
  }
}
