import Cryptography
import Foundation
import HTTP2Transport
import JSONCoding
import Synchronization
import Waiting

/// A push service of browsers: checks what RFC 8030, 8291 and 8292 demand of a sender, and reads the
/// messages with the browsers' keys.
public final class SimulatedPushService: Sendable {
  public struct Answer: Sendable {
    public var status: Int
    public var headers: [(String, String)]
    public var body: String
    /// Whether the answer never comes.
    public var isMissing = false

    public init(_ status: Int, _ headers: [(String, String)] = [], body: String = "") {
      self.status = status
      self.headers = headers
      self.body = body
    }

    public static var missing: Answer {
      var answer = Answer(0)
      answer.isMissing = true
      return answer
    }
  }

  public struct Message: Sendable {
    public var endpoint: String
    public var headers: [String: String]
    public var body: [UInt8]
    /// The text, when there was a subscription to read it with.
    public var text: String?
    /// Rules that the sender has broken.
    public var faults: [String]
    public var status: Int

    public var json: JSONValue? { text.flatMap { try? JSONValue(parsing: Data($0.utf8)) } }
  }

  /// The file with the certificate that a sender must trust, in PEM.
  public let authorityFile: String
  public let port: Int
  public var origin: String { "https://127.0.0.1:\(port)" }
  private let server: HTTP2Server
  private let handler = PushRequestHandler()

  /// Starts a service; it lives until ``stop()``.
  ///
  /// - Parameter folder: where the authority's certificate is written.
  public init(folder: String) throws {
    let authority = try CertificateAuthority(commonName: "Simulated push service")
    authorityFile = folder + "/push-authority-\(UUID().uuidString).pem"
    try authority.writeCertificate(toFile: authorityFile)
    let certificate = try authority.issueCertificate(forHosts: ["127.0.0.1"])
    server = try HTTP2Server(
      HTTP2ServerConfiguration(
        certificateChainPEM: certificate.certificateChainPEM,
        privateKeyPEM: certificate.privateKeyPEM)
    ) { [handler] in handler.handle($0) }
    try server.start()
    port = server.port
    handler.state.withLock { [port] in $0.origin = "https://127.0.0.1:\(port)" }
  }

  public func stop() async {
    await server.stop()
  }

  /// Makes a subscription as a browser does.
  public func subscribe() throws -> BrowserSubscription {
    let path = "/push/" + Base64URL.encode(SecureRandom.bytes(count: 24))
    let subscription = try BrowserSubscription(endpoint: origin + path)
    handler.state.withLock { $0.subscriptions[path] = subscription }
    return subscription
  }

  /// Sets the answers to the next requests for a subscription; afterwards the service answers 201.
  public func script(_ answers: [Answer], for subscription: BrowserSubscription) {
    let path = String(subscription.endpoint.dropFirst(origin.count))
    handler.state.withLock { $0.answers[path, default: []] += answers }
  }

  /// The received messages, oldest first.
  public var messages: [Message] { handler.state.withLock(\.messages) }

  /// Waits until so many messages have come.
  @discardableResult
  public func wait(count: Int) async throws -> [Message] {
    try await eventually("\(count) messages come") { messages.count >= count }
    return messages
  }
}

/// Takes the requests, on the server's thread.
private final class PushRequestHandler: Sendable {
  struct State {
    var origin = ""
    var subscriptions: [String: BrowserSubscription] = [:]
    var answers: [String: [SimulatedPushService.Answer]] = [:]
    var messages: [SimulatedPushService.Message] = []
  }

  let state = Mutex(State())

  func handle(_ request: HTTP2ServerRequest) {
    let answer = state.withLock { state in
      let subscription = state.subscriptions[request.path]
      var headers: [String: String] = [:]
      for field in request.headers { headers[field.name] = field.value }
      var faults = PushRequestRules.faults(
        method: request.method, headers: headers, origin: state.origin, body: request.body)
      var text: String?
      if let subscription {
        do {
          text = String(decoding: try subscription.plaintext(of: request.body), as: UTF8.self)
        } catch {
          faults.append("the message cannot be read: \(error)")
        }
      }
      var answer = SimulatedPushService.Answer(
        subscription == nil ? 404 : faults.isEmpty ? 201 : 400,
        body: faults.joined(separator: "; "))
      if let first = state.answers[request.path]?.first {
        state.answers[request.path]?.removeFirst()
        answer = first
      }
      state.messages.append(
        SimulatedPushService.Message(
          endpoint: state.origin + request.path, headers: headers, body: request.body, text: text,
          faults: faults, status: answer.status))
      return answer
    }
    if answer.isMissing { return }
    request.respond(
      status: answer.status, headers: HTTP2Headers(answer.headers), body: Array(answer.body.utf8))
  }
}
