import Cryptography
import HTTP2Transport

extension APNsClient {
  /// The address, authentication and limits of a client.
  public struct Configuration: Sendable {
    /// The host, such as `api.push.apple.com`.
    public var host: String
    /// The port: 443, or 2197 if a firewall permits only that port.
    public var port: Int
    /// The trusted certificates.
    public var trust: TLSTrust
    /// The key or certificate. Clients with the same key should share its token source.
    public var authentication: APNsAuthentication
    /// The proxy to connect through; `nil` for none.
    public var proxy: HTTPProxy?
    /// The greatest number of pushes that wait for a connection or a free stream (one request of an
    /// HTTP/2 connection). The client answers further pushes with ``PushAnswer/notSent(_:)`` at
    /// once.
    public var capacity = 10_000
    /// The greatest number of connections. The client opens a further connection only while pushes
    /// wait and all streams of the open connections are in use.
    public var maximumConnections = 4
    /// The time for which all connections must have had all their streams in use before the client
    /// opens another. A short burst of pushes does not need another connection.
    public var fullnessBeforeConnecting: Duration = .milliseconds(50)
    /// The time after which the client closes a connection without open requests, unless no other
    /// connection is left. The client looks for idle connections at intervals of half this time.
    public var idleTimeout: Duration = .seconds(600)
    /// The time limit for connecting, including name resolution and TLS.
    public var connectTimeout: Duration = .seconds(10)
    /// The time limit for an answer. The client then cancels the request, and the result of the
    /// push is ``PushAnswer/unanswered(_:)``.
    public var answerTimeout: Duration = .seconds(30)
    /// The time for which a connection may receive nothing while answers are due. The client then
    /// sends a ping.
    public var pingAfterBusySilence: Duration = .seconds(60)
    /// The time limit for the answer to a ping. The connection then counts as lost.
    public var pingTimeout: Duration = .seconds(20)
    /// The longest time for which ``APNsClient/close()`` waits for answers.
    public var closeTimeout: Duration = .seconds(10)

    /// Creates a configuration with the default limits.
    public init(
      host: String, port: Int = 443, trust: TLSTrust = .system, authentication: APNsAuthentication
    ) {
      self.host = host
      self.port = port
      self.trust = trust
      self.authentication = authentication
    }

    /// Creates a configuration with a new source of tokens. Use it only if no other client uses the
    /// key.
    ///
    /// - Parameters:
    ///   - keyID: The key's ID, ten characters.
    ///   - teamID: The team's ID, ten characters.
    public init(
      host: String, port: Int = 443, trust: TLSTrust = .system, key: ES256PrivateKey,
      keyID: String, teamID: String
    ) {
      self.init(
        host: host, port: port, trust: trust,
        authentication: .tokens(ProviderTokenSource(key: key, keyID: keyID, teamID: teamID)))
    }

    /// The limits of the ``APNsConnectionPool``. A ``maximumConnections`` below 1 counts as 1.
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
      // Answers have only a few fields, and a body with a short reason.
      connection.maximumResponseBytes = 16_384
      connection.maximumHeaderBytes = 16_384
      return connection
    }
  }
}
