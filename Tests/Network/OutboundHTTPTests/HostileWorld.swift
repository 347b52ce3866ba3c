import Cryptography
import Foundation
import HTTP2Transport
import HostilePeer
import Synchronization
import Testing
import Waiting

@testable import OutboundHTTP

/// A hostile server, and both ways out that have TLS of their own: the one to push services, webhooks and
/// issuers, and the one to APNs.
struct HostileWorld {
  let authority: CertificateAuthority
  let peer: HostilePeer
  let client: HTTPClient
  private let authorityFile: String

  /// - Parameter time: seconds that a request has.
  static func with(
    time: Double = 5, _ script: @escaping HostilePeer.Script,
    run body: (HostileWorld) async throws -> Void
  ) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    let authority = try CertificateAuthority(commonName: "Hostile")
    try authority.writeCertificate(toFile: file.path)
    let peer = try HostilePeer(try authority.issueCertificate(forHosts: ["127.0.0.1"]), script)
    defer { peer.stop() }
    var configuration = HTTPClient.Configuration()
    configuration.rules = AddressRules(allowed: [try #require(IPNetwork("127.0.0.0/8"))])
    configuration.authorityFile = file.path
    configuration.time = time
    let client = try HTTPClient(configuration)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(
        try await body(
          HostileWorld(
            authority: authority, peer: peer, client: client, authorityFile: file.path)))
    } catch {
      outcome = .failure(error)
    }
    await client.close()
    try outcome.get()
  }

  /// Makes a request as to a push service and returns its status, or the error.
  func ask(_ port: Int? = nil) async throws -> Result<OutboundAnswer, OutboundError> {
    let request = OutboundRequest(
      url: try OutboundURL(
        "https://127.0.0.1:\(port ?? peer.port)/", rules: client.configuration.rules),
      headers: [], body: [1, 2, 3])
    return await withCheckedContinuation { continuation in
      client.send(request) { continuation.resume(returning: $0) }
    }
  }

  /// Makes a request over a connection as to APNs and returns the result.
  func push(timeout: Duration = .seconds(5)) async throws -> Result<HTTP2Response, HTTP2Error> {
    let loop = try EventLoop(name: "hostile-test")
    defer { loop.shutDown() }
    var configuration = HTTP2ClientConfiguration(
      host: "127.0.0.1", port: peer.port, trust: .certificateFile(authorityFile))
    configuration.connectTimeout = timeout
    configuration.answerTimeout = timeout
    let isClosed = Mutex(false)
    let connection = try HTTP2ClientConnection(configuration, loop: loop) { event in
      if case .closed = event { isClosed.withLock { $0 = true } }
    }
    connection.start()
    let result = await withCheckedContinuation { continuation in
      connection.send(HTTP2Request(method: "POST", path: "/", body: [1, 2, 3])) {
        continuation.resume(returning: $0)
      }
    }
    connection.close(.atOnce)
    try await eventually("the connection is closed") { isClosed.withLock { $0 } }
    return result
  }
}

extension HostileConnection {
  /// Answers each request as a good server does, until the client goes.
  func serve() throws {
    try openHTTP2()
    while true { try answer(try nextRequest()) }
  }

  func answer(_ stream: UInt32) throws {
    try write(HTTP2Frame.headers(stream, [(":status", "200")], isEnd: true).bytes)
  }
}

extension Result where Success == OutboundAnswer, Failure == OutboundError {
  var status: Int? { if case .success(let answer) = self { answer.status } else { nil } }
  var code: OutboundError.Code? {
    if case .failure(let error) = self { error.code } else { nil }
  }
}

extension Result where Success == HTTP2Response, Failure == HTTP2Error {
  var status: Int? { if case .success(let answer) = self { answer.status } else { nil } }
  var code: HTTP2Error.Code? { if case .failure(let error) = self { error.code } else { nil } }
}
