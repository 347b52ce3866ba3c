import Cryptography
import Foundation
import Testing

struct CertificateAuthorityTests {
  @Test("The openssl tool verifies an issued certificate for each of its hosts")
  func verifies() throws {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority(commonName: "Test authority")
    try authority.writeCertificate(toFile: folder.path("ca.pem"))
    let server = try authority.issueCertificate(
      forHosts: ["localhost", "*.push.example.com", "127.0.0.1", "::1"])
    try server.write(
      certificateFile: folder.path("server.pem"), privateKeyFile: folder.path("server.key"))
    let options = ["-x509_strict", "-purpose", "sslserver", "-CAfile", folder.path("ca.pem")]
    for host in [
      ["-verify_hostname", "localhost"], ["-verify_hostname", "api.push.example.com"],
      ["-verify_ip", "127.0.0.1"], ["-verify_ip", "::1"],
    ] {
      let answer = try run(["verify"] + options + host + [folder.path("server.pem")])
      #expect(answer == "\(folder.path("server.pem")): OK\n")
    }
    #expect(throws: ToolFailure.self) {
      try run(
        ["verify"] + options + ["-verify_hostname", "example.org", folder.path("server.pem")])
    }
  }

  @Test("Only the owner may read private keys")
  func permissions() throws {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority(commonName: "Test authority")
    try Data().write(to: folder.url("ca.key"))
    try authority.writePrivateKey(toFile: folder.path("ca.key"))
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("ca.key"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let error = #expect(throws: CryptographyError.self) {
      try authority.writePrivateKey(toFile: folder.path("no/such/folder"))
    }
    #expect(error?.code == .fileNotWritten)
  }

  @Test("An authority that was written down issues certificates that its old clients trust")
  func takenUpAgain() throws {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority(commonName: "Test authority")
    try authority.writeCertificate(toFile: folder.path("ca.pem"))
    let again = try CertificateAuthority(
      certificatePEM: authority.certificatePEM, privateKeyPEM: authority.privateKeyPEM)
    try again.issueCertificate(forHosts: ["localhost"]).write(
      certificateFile: folder.path("server.pem"), privateKeyFile: folder.path("server.key"))
    try run("verify", "-CAfile", folder.path("ca.pem"), folder.path("server.pem"))
  }

  @Test("A certificate and a key that do not belong together are refused")
  func mismatch() throws {
    let authority = try CertificateAuthority(commonName: "Test authority")
    let error = #expect(throws: CryptographyError.self) {
      try CertificateAuthority(
        certificatePEM: authority.certificatePEM, privateKeyPEM: ES256PrivateKey().pem)
    }
    #expect(error?.code == .invalidCertificate)
  }

  @Test(
    "Names that are not hosts are refused, among them those that would add entries",
    arguments: ["", "a b", "a,IP:10.0.0.1", "a..b", "*", "a.*", "1.2.3.4:80", "exämple.org"])
  func refusedHosts(host: String) throws {
    let authority = try CertificateAuthority(commonName: "Test authority")
    let error = #expect(throws: CryptographyError.self) {
      try authority.issueCertificate(forHosts: [host])
    }
    #expect(error?.code == .invalidHostName)
  }

  @Test("A certificate for no host is refused")
  func noHosts() throws {
    let authority = try CertificateAuthority(commonName: "Test authority")
    #expect(throws: CryptographyError.self) { try authority.issueCertificate(forHosts: []) }
  }
}
