import Foundation

/// A self-signed certificate authority that issues certificates. It is for local servers that
/// replace Apple's servers in tests and demos.
///
/// ```swift
/// let authority = try CertificateAuthority(commonName: "Petrel local APNs")
/// try authority.writeCertificate(toFile: "ca.pem")
/// let server = try authority.issueCertificate(forHosts: ["localhost", "127.0.0.1"])
/// ```
public struct CertificateAuthority: Sendable {
  /// The authority's own certificate in PEM. Clients must trust it.
  public let certificatePEM: String
  let certificate: X509Certificate
  let key: ES256PrivateKey

  /// Creates an authority with a new key.
  ///
  /// - Parameters:
  ///   - commonName: the name in the certificate, 1 to 64 bytes.
  ///   - now: the present time. The certificate is valid from an hour earlier, because clocks
  ///     differ.
  /// - Throws: ``CryptographyError/Code/invalidCertificate`` for a name that OpenSSL refuses.
  public init(
    commonName: String, days: Int = 3650, now: Date = Date()
  ) throws(CryptographyError) {
    key = try ES256PrivateKey()
    certificate = try X509Certificate.selfSigned(
      commonName: commonName, key: key, validity: .init(from: now, days: days))
    certificatePEM = try certificate.pem
  }

  /// Creates an authority from the certificate and the key of an earlier one. Clients that trust
  /// the certificate need no change.
  ///
  /// - Throws: ``CryptographyError/Code/invalidCertificate`` if the certificate cannot be read or
  ///   does not belong to the key, ``CryptographyError/Code/invalidKey`` if the key cannot be read.
  public init(certificatePEM: String, privateKeyPEM: String) throws(CryptographyError) {
    key = try ES256PrivateKey(pem: privateKeyPEM)
    certificate = try X509Certificate(pem: certificatePEM)
    guard certificate.belongs(to: key) else {
      throw CryptographyError(
        .invalidCertificate, "the certificate belongs to another key than the given one")
    }
    self.certificatePEM = certificatePEM
  }

  /// The authority's private key in PEM. Anyone who has the key can issue certificates that the
  /// clients trust.
  public var privateKeyPEM: String {
    get throws(CryptographyError) { try key.pem }
  }

  /// Issues a certificate with a new key for a server.
  ///
  /// - Parameters:
  ///   - hosts: the host names and IP addresses of the server, at least one. The first of several
  ///     labels of a name may be `*`.
  ///   - days: Apple's platforms accept at most 825 days.
  /// - Throws: ``CryptographyError/Code/invalidHostName`` for a name that is not allowed, and if
  ///   `hosts` is empty.
  public func issueCertificate(
    forHosts hosts: [String], days: Int = 825, now: Date = Date()
  ) throws(CryptographyError) -> ServerCertificate {
    let serverKey = try ES256PrivateKey()
    let leaf = try X509Certificate.issued(
      by: certificate, issuerKey: key, to: serverKey.publicKey,
      hosts: try hosts.map(CertificateHost.init(parsing:)),
      validity: .init(from: now, days: days))
    return ServerCertificate(
      certificateChainPEM: try leaf.pem + certificatePEM, privateKeyPEM: try serverKey.pem)
  }

  /// Issues a certificate with a new key for a client.
  ///
  /// - Parameter commonName: the name in the certificate, 1 to 64 bytes.
  /// - Throws: ``CryptographyError/Code/invalidCertificate`` for a name that OpenSSL refuses.
  public func issueClientCertificate(
    commonName: String, days: Int = 398, now: Date = Date()
  ) throws(CryptographyError) -> ServerCertificate {
    let clientKey = try ES256PrivateKey()
    let leaf = try X509Certificate.issued(
      by: certificate, issuerKey: key, toClient: clientKey.publicKey, commonName: commonName,
      validity: .init(from: now, days: days))
    return ServerCertificate(
      certificateChainPEM: try leaf.pem + certificatePEM, privateKeyPEM: try clientKey.pem)
  }

  /// Writes ``certificatePEM`` to a file with the mode 0600.
  ///
  /// - Throws: ``CryptographyError/Code/fileNotWritten``.
  public func writeCertificate(toFile path: String) throws(CryptographyError) {
    try PEMFile.write(certificatePEM, to: path)
  }

  /// Writes ``privateKeyPEM`` to a file with the mode 0600.
  ///
  /// - Throws: ``CryptographyError/Code/fileNotWritten``.
  public func writePrivateKey(toFile path: String) throws(CryptographyError) {
    try PEMFile.write(privateKeyPEM, to: path)
  }
}
