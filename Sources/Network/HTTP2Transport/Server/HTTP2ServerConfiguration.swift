/// The address and the limits of an ``HTTP2Server``.
public struct HTTP2ServerConfiguration: Sendable, Hashable {
  /// The IP address to listen on, such as `127.0.0.1` or `::1`. With `0.0.0.0` or `::` the server
  /// listens on all addresses of the machine.
  public var host = "127.0.0.1"
  /// The port to listen on; zero for any free port, which ``HTTP2Server/port`` then reports.
  public var port = 0
  /// The server's certificate in PEM, followed by those of its issuers.
  public var certificateChainPEM: String
  /// The private key of the first certificate, in PEM and not encrypted.
  public var privateKeyPEM: String
  /// The certificate authority, in PEM, of the certificates that clients should present. With `nil`
  /// the server asks clients for no certificate.
  ///
  /// Clients without a valid certificate may connect too. ``HTTP2Server/Event/identified(_:_:)``
  /// reports the certificate and the result of its check.
  public var clientAuthorityPEM: String?
  /// The delay before the server allows a client to send further bytes (WINDOW_UPDATE) in place of
  /// those that came; `nil` for no delay.
  ///
  /// The window is the number of bytes that a client may send before the server allows more. With
  /// `nil`, the window of a connection is 4 MiB. Otherwise the window is 65,535 bytes (RFC 9113
  /// section 6.9.2), so a client can send that much in each delay.
  public var readDelay: Duration?
  /// The number of requests that a client may have open on one connection.
  public var maximumConcurrentStreams = 1_000
  /// The largest body of a request, in bytes. The server answers a request with a larger body with
  /// status 413, and does not call the handler.
  public var maximumBodyBytes = 1 << 20
  /// The greatest number of connections at a time. The server closes further connections at once.
  public var maximumConnections = 1_000
  /// The time that a client has for the TLS handshake. When this time is over, the server closes
  /// the connection.
  public var handshakeTimeout: Duration = .seconds(10)

  /// Creates a configuration with the defaults for all other values.
  public init(certificateChainPEM: String, privateKeyPEM: String) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  var identity: TLSIdentity {
    TLSIdentity(certificateChainPEM: certificateChainPEM, privateKeyPEM: privateKeyPEM)
  }
}
