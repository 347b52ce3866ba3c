import Foundation

/// A self-signed certificate authority that issues server certificates, for the local stand-ins
/// that a client reaches over TLS.
///
/// ```swift
/// let authority = try CertificateAuthority(commonName: "Petrel local APNs")
/// try authority.writeCertificate(toFile: "ca.pem")
/// let server = try authority.issueCertificate(forHosts: ["localhost", "127.0.0.1"])
/// ```
public struct CertificateAuthority: Sendable {
  /// The authority's own certificate, PEM: what a client must trust.
  public let certificatePEM: String
  let certificate: X509Certificate
  let key: ES256PrivateKey

  /// Makes an authority with a new key.
  ///
  /// - Parameters:
  ///   - commonName: the name in the certificate, 1 to 64 bytes.
  ///   - days: how long the certificate is valid, counted from `now`.
  ///   - now: the certificate is valid from an hour earlier, for clocks differ.
  public init(
    commonName: String, days: Int = 3650, now: Date = Date()
  ) throws(CryptographyError) {
    key = try ES256PrivateKey()
    certificate = try X509Certificate.selfSigned(
      commonName: commonName, key: key, validity: .init(from: now, days: days))
    certificatePEM = try certificate.pem
  }

  /// Takes up an authority that was made earlier, so that clients need not trust a new one.
  ///
  /// - Throws: ``CryptographyError/Code/invalidCertificate`` if the two do not belong together.
  public init(certificatePEM: String, privateKeyPEM: String) throws(CryptographyError) {
    key = try ES256PrivateKey(pem: privateKeyPEM)
    certificate = try X509Certificate(pem: certificatePEM)
    guard certificate.belongs(to: key) else {
      throw CryptographyError(
        .invalidCertificate, "the certificate was made for another key than the one given")
    }
    self.certificatePEM = certificatePEM
  }

  /// The authority's private key, PEM: who has it can issue certificates that clients trust.
  public var privateKeyPEM: String {
    get throws(CryptographyError) { try key.pem }
  }

  /// Issues a certificate with a key of its own for a server.
  ///
  /// - Parameters:
  ///   - hosts: host names (a first label `*` is allowed) and IP addresses, at least one.
  ///   - days: how long it is valid; 825 is the most that Apple's platforms accept.
  /// - Throws: ``CryptographyError/Code/invalidHostName`` with the name that is not allowed.
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

  /// Issues a certificate with a key of its own for a client.
  ///
  /// - Parameters:
  ///   - commonName: the name in the certificate, 1 to 64 bytes.
  ///   - days: how long it is valid.
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

  /// Writes ``certificatePEM`` to a file that everybody may read.
  public func writeCertificate(toFile path: String) throws(CryptographyError) {
    try PEMFile.write(certificatePEM, to: path)
  }

  /// Writes ``privateKeyPEM`` to a file that only its owner may read.
  public func writePrivateKey(toFile path: String) throws(CryptographyError) {
    try PEMFile.write(privateKeyPEM, to: path)
  }
}
