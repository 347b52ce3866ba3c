/// Where an ``HTTP2Server`` listens, and its limits.
public struct HTTP2ServerConfiguration: Sendable, Hashable {
  /// The IP address to listen on: `127.0.0.1`, `::1`, `0.0.0.0`, `::`.
  public var host = "127.0.0.1"
  /// Zero for any free port; ``HTTP2Server/port`` says which.
  public var port = 0
  /// The server's certificate and those of its issuers, PEM.
  public var certificateChainPEM: String
  /// The key of the first certificate, PEM.
  public var privateKeyPEM: String
  /// The authority, PEM, whose certificates clients are asked for; nil if they are not. Clients
  /// without one are let in: ``HTTP2Server/Event/identified(_:_:)`` tells.
  public var clientAuthorityPEM: String?
  /// How long what a client sent is kept from making room for more: with nil each connection may
  /// send megabytes at once, otherwise 65,535 bytes (RFC 9113 section 6.9.2) in so much time.
  public var readDelay: Duration?
  /// How many requests a client may have open on one connection.
  public var maximumConcurrentStreams = 1_000
  /// A request with a larger body is answered with 413 and does not reach the handler.
  public var maximumBodyBytes = 1 << 20
  /// So many clients may be connected; more are turned away.
  public var maximumConnections = 1_000
  /// A client that has not finished the TLS handshake by then is dropped.
  public var handshakeTimeout: Duration = .seconds(10)

  public init(certificateChainPEM: String, privateKeyPEM: String) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  var identity: TLSIdentity {
    TLSIdentity(certificateChainPEM: certificateChainPEM, privateKeyPEM: privateKeyPEM)
  }
}
