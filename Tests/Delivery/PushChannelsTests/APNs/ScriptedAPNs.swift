import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import Synchronization
import Testing
import Waiting

@testable import PushChannels

/// An HTTP/2 server whose answers a test decides, and a client that sends to it.
final class ScriptedAPNs: Sendable {
  typealias Answer = @Sendable (_ request: HTTP2ServerRequest, _ number: Int) -> Void

  let server: HTTP2Server
  let loop: EventLoop
  let client: APNsClient
  private let shared: Shared
  private let authorityFile: String

  /// The state that the server, the clock and the completions share.
  final class Shared: Sendable {
    struct State {
      var requests: [HTTP2ServerRequest] = []
      var now = Timestamp(milliseconds: 1_767_225_600_000)
      var results: [UUID: PushAnswer] = [:]
    }
    let state = Mutex(State())
  }

  /// - Parameter answer: called for each request with its number, counted from one.
  init(
    maximumConcurrentStreams: Int = 1000,
    answer: @escaping Answer = { request, _ in request.respond(status: 200) },
    configure: (inout APNsClient.Configuration) -> Void = { _ in }
  ) throws {
    let authority = try CertificateAuthority(commonName: "Scripted APNs")
    authorityFile =
      FileManager.default.temporaryDirectory
      .appending(path: "\(UUID().uuidString).pem").path
    try authority.writeCertificate(toFile: authorityFile)
    let certificate = try authority.issueCertificate(forHosts: ["127.0.0.1"])
    var serverConfiguration = HTTP2ServerConfiguration(
      certificateChainPEM: certificate.certificateChainPEM,
      privateKeyPEM: certificate.privateKeyPEM)
    serverConfiguration.maximumConcurrentStreams = maximumConcurrentStreams
    let shared = Shared()
    self.shared = shared
    server = try HTTP2Server(serverConfiguration) { request in
      let number = shared.state.withLock { state in
        state.requests.append(request)
        return state.requests.count
      }
      answer(request, number)
    }
    try server.start()
    loop = try EventLoop(name: "test-apns")
    var configuration = APNsClient.Configuration(
      host: "127.0.0.1", port: server.port, trust: .certificateFile(authorityFile),
      key: try ES256PrivateKey(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    configure(&configuration)
    client = APNsClient(
      configuration, loop: loop, clock: { shared.state.withLock { $0.now } }, random: { 0.5 })
  }

  deinit {
    try? FileManager.default.removeItem(atPath: authorityFile)
  }

  func stop() async {
    await client.close()
    await server.stop()
    loop.shutDown()
  }

  // MARK: Sending

  @discardableResult
  func send(token: String = "aa11") -> UUID {
    let push = Self.push(token: token)
    let shared = shared
    client.send(push) { result in
      shared.state.withLock { $0.results[push.identifier] = result }
    }
    return push.identifier
  }

  func result(of identifier: UUID) async throws -> PushAnswer {
    try await eventually("the push has a result") { self.results[identifier] != nil }
    return results[identifier]!
  }

  /// Sends a push and waits for what comes of it.
  func result() async throws -> PushAnswer {
    try await result(of: send())
  }

  static func push(token: String) -> Push {
    let notification = NotificationFixture.query(NotificationFixture.info { $0.alertBody = "Hi" })
    var push = Push(
      notification, payload: PushPayload(notification, badge: nil, reader: .apns),
      deviceToken: token, topic: "com.example.app",
      issued: Timestamp(milliseconds: 1_767_225_600_000))
    push.identifier = UUID()
    return push
  }

  // MARK: What came of it

  var requests: [HTTP2ServerRequest] { shared.state.withLock(\.requests) }
  var results: [UUID: PushAnswer] { shared.state.withLock(\.results) }

  func setClock(minutes: Double) {
    shared.state.withLock { $0.now = $0.now.advanced(bySeconds: minutes * 60) }
  }

  func waitForRequests(_ count: Int) async throws -> [HTTP2ServerRequest] {
    try await eventually("\(count) requests came") { self.requests.count >= count }
    return requests
  }
}
