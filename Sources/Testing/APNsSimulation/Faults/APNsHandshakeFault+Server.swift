import Cryptography
import Foundation
import HTTP2Transport

extension HTTP2Server.Handshake {
  /// Creates the server's handshake for a fault. If the faulty certificate cannot be issued, the
  /// server refuses the handshake.
  ///
  /// - Parameter authority: the simulator's authority, which issues the certificates for all faults
  ///   except `untrusted`.
  init(_ fault: APNsHandshakeFault, authority: CertificateAuthority, hosts: [String]) {
    let certificate: ServerCertificate?
    switch fault {
    case .refused:
      certificate = nil
    case .untrusted:
      // On a failure the certificate is nil, and the handshake is refused.
      certificate = try? CertificateAuthority(commonName: "Nobody knows me")
        .issueCertificate(forHosts: hosts)
    case .otherHost:
      // On a failure the certificate is nil, and the handshake is refused.
      certificate = try? authority.issueCertificate(forHosts: ["elsewhere.invalid"])
    case .expired:
      // On a failure the certificate is nil, and the handshake is refused.
      certificate = try? authority.issueCertificate(
        forHosts: hosts, days: 1, now: Date(timeIntervalSinceNow: -864_000))
    }
    guard let certificate else {
      self = .refused
      return
    }
    self = .presenting(
      TLSIdentity(
        certificateChainPEM: certificate.certificateChainPEM,
        privateKeyPEM: certificate.privateKeyPEM))
  }
}
