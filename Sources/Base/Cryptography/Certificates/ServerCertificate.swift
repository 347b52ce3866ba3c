/// The certificate of a server or of a client, with its private key.
public struct ServerCertificate: Sendable, Hashable {
  /// The certificate in PEM, followed by the certificate of its issuer.
  public var certificateChainPEM: String
  /// The private key of the first certificate, in PEM and not encrypted.
  public var privateKeyPEM: String

  /// Creates a value from two PEM texts, without checking them.
  public init(certificateChainPEM: String, privateKeyPEM: String) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  /// Writes the chain and the key to files with the mode 0600.
  ///
  /// - Throws: ``CryptographyError/Code/fileNotWritten``.
  public func write(
    certificateFile: String, privateKeyFile: String
  ) throws(CryptographyError) {
    try PEMFile.write(certificateChainPEM, to: certificateFile)
    try PEMFile.write(privateKeyPEM, to: privateKeyFile)
  }
}
