import Cryptography
import Foundation
import HTTP2Transport

extension HTTP2Server.Handshake {
  /// What the server does for a fault. Where no certificate can be made, the handshake is refused.
  init(_ fault: APNsHandshakeFault, authority: CertificateAuthority, hosts: [String]) {
    let certificate: ServerCertificate?
    switch fault {
    case .refused:
      certificate = nil
    case .untrusted:
      // A simulator without a certificate refuses the handshake, too.
      certificate = try? CertificateAuthority(commonName: "Nobody knows me")
        .issueCertificate(forHosts: hosts)
    case .otherHost:
      // A simulator without a certificate refuses the handshake, too.
      certificate = try? authority.issueCertificate(forHosts: ["elsewhere.invalid"])
    case .expired:
      // A simulator without a certificate refuses the handshake, too.
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
