import Cryptography
import Foundation
import Testing

@testable import HTTP2Transport

@Suite(.timeLimit(.minutes(1)))
struct ClientCertificateTests {
  /// Returns the client's certificate as seen by a server that asks for certificates of
  /// `authority`.
  private func shown(
    _ identity: ServerCertificate?, asking authority: CertificateAuthority
  ) async throws -> TLSPeerCertificate? {
    let playground = try Playground(
      configure: { $0.clientAuthorityPEM = authority.certificatePEM },
      answering: { $0.respond(status: 200) })
    let client = try playground.client {
      $0.identity = identity.map {
        TLSIdentity(
          certificateChainPEM: $0.certificateChainPEM, privateKeyPEM: $0.privateKeyPEM)
      }
    }
    #expect(try await client.exchange(HTTP2Request(method: "GET", path: "/")).status == 200)
    let events = playground.serverEvents.elements
    await playground.stop()
    guard case .identified(_, let certificate) = events.first else {
      Issue.record("\(events)")
      return nil
    }
    return certificate
  }

  @Test("A certificate of the right authority is seen with its name")
  func good() async throws {
    let authority = try CertificateAuthority(commonName: "Clients")
    let identity = try authority.issueClientCertificate(commonName: "Apple Push Services: a.b")
    #expect(
      try await shown(identity, asking: authority)
        == TLSPeerCertificate(commonName: "Apple Push Services: a.b"))
  }

  @Test("A client without a certificate, or with a bad one, is let in and seen as such")
  func bad() async throws {
    let authority = try CertificateAuthority(commonName: "Clients")
    #expect(try await shown(nil, asking: authority) == nil)
    let foreign = try CertificateAuthority(commonName: "Others")
      .issueClientCertificate(commonName: "foreign")
    let seen = try #require(try await shown(foreign, asking: authority))
    #expect(seen.commonName == "foreign")
    #expect(seen.failure != nil)
    let old = try authority.issueClientCertificate(
      commonName: "old", days: 1, now: Date(timeIntervalSinceNow: -864_000))
    #expect(
      try await shown(old, asking: authority)
        == TLSPeerCertificate(commonName: "old", failure: "certificate has expired"))
    let server = try authority.issueCertificate(forHosts: ["127.0.0.1"])
    #expect(try await shown(server, asking: authority)?.failure != nil)
  }

  @Test("A key that is not the certificate's is refused when the client is made")
  func mismatch() throws {
    let identity = try CertificateAuthority(commonName: "Clients")
      .issueClientCertificate(commonName: "a")
    let error = #expect(throws: HTTP2Error.self) {
      try TLSIdentity(
        certificateChainPEM: identity.certificateChainPEM,
        privateKeyPEM: try ES256PrivateKey().pem
      ).check()
    }
    #expect(error?.reason.contains("the client's key does not match its certificate") == true)
  }
}
