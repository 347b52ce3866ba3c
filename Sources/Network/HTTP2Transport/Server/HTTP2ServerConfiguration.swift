/// The address and the limits of an ``HTTP2Server``.
public struct HTTP2ServerConfiguration: Sendable, Hashable {
  /// The IP address to listen on: `127.0.0.1`, `::1`, `0.0.0.0`, `::`.
  public var host = "127.0.0.1"
  /// The port to listen on; zero for any free port, which ``HTTP2Server/port`` then reports.
  public var port = 0
  /// The server's certificate in PEM, followed by those of its issuers.
  public var certificateChainPEM: String
  /// The private key of the first certificate, in PEM and not encrypted.
  public var privateKeyPEM: String
  /// The authority, in PEM, whose certificates the server asks clients for; `nil` to ask for none.
  ///
  /// Clients without a valid certificate may connect too. ``HTTP2Server/Event/identified(_:_:)``
  /// reports the result.
  public var clientAuthorityPEM: String?
  /// The time until the server grants a client window for the bytes that it sent; `nil` for no
  /// delay.
  ///
  /// With `nil`, a connection has a window of 4 MiB. Otherwise a client can send 65,535 bytes (RFC
  /// 9113 section 6.9.2) on a connection in each delay.
  public var readDelay: Duration?
  /// The number of requests that a client may have open on one connection.
  public var maximumConcurrentStreams = 1_000
  /// The largest body of a request. The server answers a larger one with status 413 without a call
  /// of the handler.
  public var maximumBodyBytes = 1 << 20
  /// The number of connections at a time. The server closes further ones at once.
  public var maximumConnections = 1_000
  /// The time that a client has for the TLS handshake. The server then closes the connection.
  public var handshakeTimeout: Duration = .seconds(10)

  /// Creates a configuration with the defaults for all other values.
  public init(certificateChainPEM: String, privateKeyPEM: String) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  /// The server's certificate and key as one value.
  var identity: TLSIdentity {
    TLSIdentity(certificateChainPEM: certificateChainPEM, privateKeyPEM: privateKeyPEM)
  }
}
