/// A certificate with its private key, as one end of a connection shows it to the other.
public struct TLSIdentity: Sendable, Hashable {
  /// The certificate, followed by those of its issuers if there are any, PEM.
  public var certificateChainPEM: String
  /// The key of the first certificate, PEM, not encrypted.
  public var privateKeyPEM: String

  public init(certificateChainPEM: String, privateKeyPEM: String) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  /// Throws ``HTTP2Error/Code/invalidConfiguration`` unless certificate and key can be used and
  /// belong together.
  public func check() throws(HTTP2Error) {
    _ = try TLSContext.client(trust: .system, identity: self)
  }
}
