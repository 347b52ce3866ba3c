import Cryptography
import Foundation
import Testing
import Waiting

@testable import HTTP2Transport

struct ForeignServerTests {
  @Test("nghttpd serves files and takes posts, thousands at a time")
  func nghttpd() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let authority = try CertificateAuthority(commonName: "Playground")
    let authorityFile = folder.appending(path: "ca.pem").path
    try authority.writeCertificate(toFile: authorityFile)
    let keyFile = folder.appending(path: "server.key").path
    let certificateFile = folder.appending(path: "server.pem").path
    try authority.issueCertificate(forHosts: ["127.0.0.1"]).write(
      certificateFile: certificateFile, privateKeyFile: keyFile)
    try Data("hello".utf8).write(to: folder.appending(path: "file.txt"))

    let port = try freePort()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/sbin/nghttpd")
    process.arguments = [
      "--address=127.0.0.1", "--htdocs=\(folder.path)", "--max-concurrent-streams=7", "\(port)",
      keyFile, certificateFile,
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    // Test threads block SIGTERM, which the process inherits.
    defer { kill(process.processIdentifier, SIGKILL) }

    let loop = try EventLoop(name: "test")
    defer { loop.shutDown() }
    let configuration = HTTP2ClientConfiguration(
      host: "127.0.0.1", port: port, trust: .certificateFile(authorityFile))
    let client = try await connect(configuration, loop)
    #expect(client.events.elements == [.opened(maximumConcurrentStreams: 7)])
    let response = try await client.exchange(HTTP2Request(method: "GET", path: "/file.txt"))
    #expect(response.status == 200)
    #expect(response.body == Array("hello".utf8))
    #expect(response.headers["content-length"] == "5")

    for number in 0..<3000 {
      client.send("/missing/\(number)", body: [UInt8](repeating: 1, count: 500))
    }
    for (path, outcome) in try await client.outcomes.wait(count: 3000) {
      #expect(try outcome.get().status == 404, "\(path)")
    }
    client.connection.close(.whenAnswered)
    #expect(try await client.ending() == nil)
  }

  /// The server says nowhere when it is ready, so connecting is tried until it is.
  private func connect(
    _ configuration: HTTP2ClientConfiguration, _ loop: EventLoop
  ) async throws -> Client {
    var client: Client?
    try await eventually("nghttpd takes a connection") {
      let next = try Client(configuration, loop: loop)
      if try await next.events.wait(count: 1).first?.isOpened == true { client = next }
      return client != nil
    }
    return try #require(client)
  }

  private func freePort() throws -> Int {
    let listener = try Socket.listening(host: "127.0.0.1", port: 0)
    defer { close(listener) }
    return SocketAddress.localPort(of: listener)
  }
}
