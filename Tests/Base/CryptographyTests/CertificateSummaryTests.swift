import Cryptography
import Foundation
import Testing

struct CertificateSummaryTests {
  @Test("name and time of each certificate of a text, keys among them passed over")
  func chain() throws {
    let made = Date(timeIntervalSince1970: 1_700_000_000)
    let authority = try CertificateAuthority(commonName: "Übung", days: 3650, now: made)
    let client = try authority.issueClientCertificate(
      commonName: "Apple Push Services: com.example.app", days: 100, now: made)
    let text = client.privateKeyPEM + client.certificateChainPEM
    let found = try CertificateSummary.all(inPEM: text)
    #expect(found.map(\.commonName) == ["Apple Push Services: com.example.app", "Übung"])
    #expect(found[0].start == made.addingTimeInterval(-3600))
    #expect(found.map(\.end) == [100, 3650].map { made.addingTimeInterval($0 * 86_400) })
  }

  @Test(
    "a text without one is refused", arguments: ["", "certificate", "-----BEGIN CERTIFICATE-----"])
  func none(text: String) throws {
    #expect(throws: CryptographyError.self) { try CertificateSummary.all(inPEM: text) }
    let key = try ES256PrivateKey().pem
    #expect(throws: CryptographyError.self) { try CertificateSummary.all(inPEM: key) }
  }
}
