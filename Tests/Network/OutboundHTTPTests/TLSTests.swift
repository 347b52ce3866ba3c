import Cryptography
import Foundation
import HTTP2Transport
import Synchronization
import Testing
import Waiting

@testable import OutboundHTTP

/// Both ways out that have TLS of their own, against servers that must not be believed or spoken to: the
/// one to browsers' push services and webhooks, and the one to APNs.
struct TLSTests {
  /// An authority that both trust.
  private struct World {
    let authority: CertificateAuthority
    let authorityFile: String
    let client: HTTPClient

    static func with(_ body: (World) async throws -> Void) async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
      defer { try? FileManager.default.removeItem(at: file) }
      let authority = try CertificateAuthority(commonName: "Trusted")
      try authority.writeCertificate(toFile: file.path)
      var configuration = HTTPClient.Configuration()
      configuration.rules = AddressRules(allowed: [try #require(IPNetwork("127.0.0.0/8"))])
      configuration.authorityFile = file.path
      let client = try HTTPClient(configuration)
      do {
        try await body(
          World(authority: authority, authorityFile: file.path, client: client))
      } catch {
        await client.close()
        throw error
      }
      await client.close()
    }

    func certificate(_ host: String = "127.0.0.1") throws -> ServerCertificate {
      try authority.issueCertificate(forHosts: [host])
    }

    /// Makes a request as to a push service or webhook. Returns `200`, or the error's code.
    func ask(_ port: Int) async throws -> String {
      let request = OutboundRequest(
        .get, url: try OutboundURL("https://127.0.0.1:\(port)/", rules: client.configuration.rules),
        headers: [])
      do throws(OutboundError) {
        return "\(try await client.send(request).status)"
      } catch {
        return error.code.description
      }
    }

    /// Opens a connection as to APNs. Returns `opened`, or the error's code.
    func connect(_ port: Int) async throws -> String {
      let loop = try EventLoop(name: "tls-test")
      defer { loop.shutDown() }
      let outcome = Mutex<String?>(nil)
      let connection = try HTTP2ClientConnection(
        HTTP2ClientConfiguration(
          host: "127.0.0.1", port: port, trust: .certificateFile(authorityFile)), loop: loop
      ) { event in
        outcome.withLock { outcome in
          switch event {
          case .opened: outcome = outcome ?? "opened"
          case .closed(let error): outcome = outcome ?? error?.code.description ?? "closed"
          default: break
          }
        }
      }
      connection.start()
      try await eventually("the connection is open or has failed") {
        outcome.withLock { $0 != nil }
      }
      connection.close(.atOnce)
      return outcome.withLock { $0 ?? "" }
    }

    func check(
      _ server: OpenSSLServer, _ asked: String, _ connected: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
      #expect(try await ask(server.port) == asked, sourceLocation: sourceLocation)
      #expect(try await connect(server.port) == connected, sourceLocation: sourceLocation)
    }
  }

  @Test("a server with a good certificate and TLS 1.2 or 1.3 is spoken to")
  func good() async throws {
    try await World.with { world in
      for version in ["-tls1_2", "-tls1_3"] {
        let server = try await OpenSSLServer(try world.certificate(), [version])
        #expect(try await world.ask(server.port) == "200")
      }
      let certificate = try world.certificate()
      let server = try HTTP2Server(
        HTTP2ServerConfiguration(
          certificateChainPEM: certificate.certificateChainPEM,
          privateKeyPEM: certificate.privateKeyPEM)
      ) { $0.respond(status: 200) }
      try server.start()
      #expect(try await world.connect(server.port) == "opened")
      #expect(try await world.ask(server.port) == "200")
      await server.stop()
    }
  }

  @Test(
    "a certificate for another host, one that expired, and one of an unknown authority are not believed"
  )
  func certificates() async throws {
    try await World.with { world in
      let stranger = try CertificateAuthority(commonName: "Stranger")
      let past = Date(timeIntervalSinceNow: -10 * 86_400)
      for certificate in [
        try world.certificate("other.example.com"), try world.certificate("127.0.0.2"),
        try world.authority.issueCertificate(forHosts: ["127.0.0.1"], days: 5, now: past),
        try stranger.issueCertificate(forHosts: ["127.0.0.1"]),
      ] {
        try await world.check(
          try await OpenSSLServer(certificate, ["-alpn", "h2,http/1.1"]), "notTrusted",
          "certificateRejected")
      }
    }
  }

  @Test("TLS before 1.2 is not spoken")
  func oldVersions() async throws {
    try await World.with { world in
      for version in ["-tls1", "-tls1_1"] {
        let server = try await OpenSSLServer(
          try world.certificate(),
          [version, "-cipher", "ALL:@SECLEVEL=0", "-alpn", "h2,http/1.1"])
        try await world.check(server, "notTrusted", "tlsFailed")
      }
    }
  }

  @Test("ciphers without authenticated encryption are not agreed on")
  func oldCiphers() async throws {
    try await World.with { world in
      for (cipher, isGood) in [
        ("ECDHE-ECDSA-AES128-SHA", false), ("ECDHE-ECDSA-AES256-SHA384", false),
        ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-CHACHA20-POLY1305", true),
      ] {
        let server = try await OpenSSLServer(
          try world.certificate(),
          ["-tls1_2", "-cipher", cipher] + (isGood ? [] : ["-alpn", "h2,http/1.1"]))
        if isGood {
          #expect(try await world.ask(server.port) == "200", "\(cipher)")
        } else {
          try await world.check(server, "notTrusted", "tlsFailed")
        }
      }
    }
  }
}
