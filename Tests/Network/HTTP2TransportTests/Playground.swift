import Cryptography
import Foundation

@testable import HTTP2Transport

/// A server with a certificate of its own, and clients that trust it.
final class Playground: Sendable {
  typealias Outcome = Result<HTTP2Response, HTTP2Error>

  let server: HTTP2Server
  let serverEvents = Recorder<HTTP2Server.Event>()
  /// Every request that came, in order. The handler may answer or leave them open.
  let requests = Recorder<HTTP2ServerRequest>()
  let loop: EventLoop
  let authorityFile: String

  /// - Parameter stalls: whether the server falls silent on each connection once its settings are
  ///   sent.
  init(
    stalls: Bool = false, configure: (inout HTTP2ServerConfiguration) -> Void = { _ in },
    answering handler: @escaping HTTP2Server.Handler = { _ in }
  ) throws {
    let authority = try CertificateAuthority(commonName: "Playground")
    authorityFile =
      FileManager.default.temporaryDirectory
      .appending(path: "\(UUID().uuidString).pem").path
    try authority.writeCertificate(toFile: authorityFile)
    let certificate = try authority.issueCertificate(forHosts: ["127.0.0.1"])
    var configuration = HTTP2ServerConfiguration(
      certificateChainPEM: certificate.certificateChainPEM,
      privateKeyPEM: certificate.privateKeyPEM)
    configure(&configuration)
    let (serverEvents, requests) = (serverEvents, requests)
    let stalled = Box()
    server = try HTTP2Server(
      configuration,
      onEvent: { event in
        serverEvents.record(event)
        if case .opened(let connection) = event { stalled.server?.stall(connection) }
      },
      handler: { request in
        requests.record(request)
        handler(request)
      })
    if stalls { stalled.server = server }
    try server.start()
    loop = try EventLoop(name: "test-client")
  }

  deinit {
    loop.shutDown()
    requests.forget()
    try? FileManager.default.removeItem(atPath: authorityFile)
  }

  func client(
    configure: (inout HTTP2ClientConfiguration) -> Void = { _ in }
  ) throws -> Client {
    var configuration = HTTP2ClientConfiguration(
      host: "127.0.0.1", port: server.port, trust: .certificateFile(authorityFile))
    configure(&configuration)
    return try Client(configuration, loop: loop)
  }

  /// Returns when the server has carried out all instructions so far.
  func serverIsUpToDate() async {
    await withCheckedContinuation { continuation in
      server.loop.execute { continuation.resume() }
    }
  }

  func stop() async {
    await server.stop()
  }
}

/// A server that its own callbacks know. Set before the server is started, and only read after.
private final class Box: @unchecked Sendable {
  weak var server: HTTP2Server?
}

/// A started connection with all it reports.
final class Client: Sendable {
  let connection: HTTP2ClientConnection
  let events = Recorder<HTTP2ClientConnection.Event>()
  let outcomes = Recorder<(path: String, outcome: Playground.Outcome)>()

  init(_ configuration: HTTP2ClientConfiguration, loop: EventLoop) throws {
    let events = events
    connection = try HTTP2ClientConnection(configuration, loop: loop) { events.record($0) }
    connection.start()
  }

  func send(_ path: String, body: [UInt8] = [1, 2, 3]) {
    let outcomes = outcomes
    connection.send(HTTP2Request(method: "POST", path: path, body: body)) {
      outcomes.record((path, $0))
    }
  }

  /// Sends one request and waits for what comes of it.
  func exchange(_ request: HTTP2Request) async throws -> HTTP2Response {
    try await withCheckedContinuation { continuation in
      connection.send(request) { continuation.resume(returning: $0) }
    }.get()
  }

  func outcome(of path: String) -> Playground.Outcome? {
    outcomes.elements.first { $0.path == path }?.outcome
  }

  func error(of path: String) -> HTTP2Error? {
    if case .failure(let error) = outcome(of: path) { error } else { nil }
  }

  func status(of path: String) -> Int? {
    if case .success(let response) = outcome(of: path) { response.status } else { nil }
  }

  /// The error with which the connection ended.
  func ending() async throws -> HTTP2Error? {
    let events = try await events.wait { $0.last?.isClosed == true }
    guard case .closed(let error) = events.last else { return nil }
    return error
  }
}

extension HTTP2ClientConnection.Event {
  var isClosed: Bool {
    if case .closed = self { true } else { false }
  }

  var isOpened: Bool {
    if case .opened = self { true } else { false }
  }
}
