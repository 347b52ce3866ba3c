import Cryptography
import Foundation
import Testing
import Waiting

@testable import HTTP2Transport

struct ConnectingTests {
  @Test("A server whose certificate nobody vouches for is rejected")
  func untrusted() async throws {
    let playground = try Playground()
    let client = try playground.client { $0.trust = .system }
    client.send("/")
    #expect(try await client.ending()?.code == .certificateRejected)
    #expect(client.error(of: "/")?.isSafeToRepeat == true)
    #expect(playground.serverEvents.elements.isEmpty)
    await playground.stop()
  }

  @Test("A server whose certificate is for another host is rejected")
  func otherHost() async throws {
    let playground = try Playground()
    let client = try playground.client { $0.host = "localhost" }
    let error = try #require(try await client.ending())
    #expect(error.code == .certificateRejected)
    #expect(error.reason.contains("hostname mismatch"))
    await playground.stop()
  }

  @Test("A port where nobody listens is reported with its number")
  func refused() async throws {
    let playground = try Playground()
    let port = playground.server.port
    await playground.stop()
    let client = try playground.client { $0.port = port }
    let error = try #require(try await client.ending())
    #expect(error.code == .notConnected)
    #expect(error.reason.contains("127.0.0.1 port \(port)"))
  }

  @Test("A name that cannot be a host's is reported")
  func badName() async throws {
    let playground = try Playground()
    let client = try playground.client { $0.host = "no such host" }
    let error = try #require(try await client.ending())
    #expect(error.code == .nameNotResolved)
    #expect(error.reason.contains("'no such host'"))
    await playground.stop()
  }

  @Test("A server that accepts and then says nothing runs into the time-out")
  func silent() async throws {
    let playground = try Playground()
    let listener = try Socket.listening(host: "127.0.0.1", port: 0)
    defer { close(listener) }
    let client = try playground.client {
      $0.port = SocketAddress.localPort(of: listener)
      $0.connectTimeout = .milliseconds(100)
    }
    client.send("/")
    #expect(try await client.ending()?.code == .timedOut)
    #expect(client.error(of: "/")?.isSafeToRepeat == true)
    await playground.stop()
  }

  @Test("A client that never shakes hands is dropped")
  func silentClient() async throws {
    let playground = try Playground(configure: { $0.handshakeTimeout = .milliseconds(50) })
    let address = try SocketAddress.resolve(
      host: "127.0.0.1", port: playground.server.port, isNumeric: true)[0]
    let descriptor = try Socket.connecting(to: address)
    defer { close(descriptor) }
    try await eventually("the connection is closed") {
      var byte: UInt8 = 0
      return read(descriptor, &byte, 1) == 0
    }
    await playground.stop()
  }

  @Test("A port that is taken, and an address of another machine, are refused by name")
  func notListening() async throws {
    let playground = try Playground()
    let certificate = try CertificateAuthority(commonName: "Test")
      .issueCertificate(forHosts: ["127.0.0.1"])
    var configuration = HTTP2ServerConfiguration(
      certificateChainPEM: certificate.certificateChainPEM,
      privateKeyPEM: certificate.privateKeyPEM)
    configuration.port = playground.server.port
    let second = try HTTP2Server(configuration) { _ in }
    let error = #expect(throws: HTTP2Error.self) { try second.start() }
    #expect(error?.code == .notListening)
    #expect(error?.reason.contains("port \(playground.server.port)") == true)
    configuration.host = "192.0.2.1"
    let third = try HTTP2Server(configuration) { _ in }
    #expect(throws: HTTP2Error.self) { try third.start() }
    await playground.stop()
  }

  @Test("Files and texts that hold no certificates are refused when the ends are made")
  func noCertificates() throws {
    let loop = try EventLoop(name: "test")
    defer { loop.shutDown() }
    let client = #expect(throws: HTTP2Error.self) {
      try HTTP2ClientConnection(
        HTTP2ClientConfiguration(
          host: "localhost", port: 1, trust: .certificateFile("/no/such/file")), loop: loop
      ) { _ in }
    }
    #expect(client?.code == .invalidConfiguration)
    #expect(client?.reason.contains("/no/such/file") == true)
    let authority = try CertificateAuthority(commonName: "Test")
    let pairs = [
      ("", try authority.privateKeyPEM), (authority.certificatePEM, ""),
      (authority.certificatePEM, try ES256PrivateKey().pem),
    ]
    for (certificate, key) in pairs {
      let configuration = HTTP2ServerConfiguration(
        certificateChainPEM: certificate, privateKeyPEM: key)
      let server = #expect(throws: HTTP2Error.self) { try HTTP2Server(configuration) { _ in } }
      #expect(server?.code == .invalidConfiguration)
    }
  }

  @Test("A server turns clients away when it has as many as it may")
  func maximumConnections() async throws {
    let playground = try Playground(configure: { $0.maximumConnections = 1 })
    let first = try playground.client()
    try await first.events.wait(count: 1)
    #expect(try await playground.client().ending()?.code == .connectionLost)
    await playground.stop()
    #expect(try await first.ending()?.code == .connectionLost)
  }
}
