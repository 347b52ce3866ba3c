/// A certificate with its private key, which one end of a connection presents to the other.
public struct TLSIdentity: Sendable, Hashable {
  /// The certificate in PEM, followed by those of its issuers if there are any.
  public var certificateChainPEM: String
  /// The private key of the first certificate, in PEM and not encrypted.
  public var privateKeyPEM: String

  /// Creates an identity without checking it; ``check()`` does.
  public init(certificateChainPEM: String, privateKeyPEM: String) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  /// Checks that certificate and key are usable and belong together.
  ///
  /// - Throws: ``HTTP2Error/Code/invalidConfiguration`` with the reason if not.
  public func check() throws(HTTP2Error) {
    _ = try TLSContext.client(trust: .system, identity: self)
  }
}
