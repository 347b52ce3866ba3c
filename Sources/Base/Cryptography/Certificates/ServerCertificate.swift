/// The certificate of a server, or of a client that shows one, with its private key.
public struct ServerCertificate: Sendable, Hashable {
  /// The certificate followed by its issuer's, PEM.
  public var certificateChainPEM: String
  /// The key of the first certificate, PEM, not encrypted.
  public var privateKeyPEM: String

  public init(certificateChainPEM: String, privateKeyPEM: String) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  /// Writes the chain to a file that everybody, and the key to one that only its owner may read.
  public func write(
    certificateFile: String, privateKeyFile: String
  ) throws(CryptographyError) {
    try PEMFile.write(certificateChainPEM, to: certificateFile)
    try PEMFile.write(privateKeyPEM, to: privateKeyFile)
  }
}
