import CloudKit
import Cryptography
import HTTPService
import JSONCoding
import Synchronization

/// A receiver of webhooks that checks the signature of each message as docs/reference/webhooks.md
/// describes.
final class WebhookReceiver: Sendable {
  struct Message: Sendable {
    var id: String
    var isSigned: Bool
    var status: Int
    var json: JSONValue?

    var recordName: String? { json?["ck"]?["qry"]?["rid"]?.string }
  }

  fileprivate struct State {
    var secret = ""
    var refusals = 0
    var messages: [Message] = []
  }

  private let server: HTTPServer
  private let shared: Shared

  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  /// - Parameter refusals: so many messages are answered with 503 before the first is taken.
  init(refusals: Int) throws {
    let shared = Shared()
    shared.state.withLock { $0.refusals = refusals }
    self.shared = shared
    var configuration = HTTPServer.Configuration()
    configuration.port = 0
    server = HTTPServer(configuration: configuration) { request in
      HTTPResponse(status: shared.state.withLock { $0.take(request) })
    }
    try server.start()
  }

  var url: String { "http://127.0.0.1:\(server.port)/hook" }

  /// The received messages, oldest first.
  var messages: [Message] { shared.state.withLock(\.messages) }

  func expect(secret: String) {
    shared.state.withLock { $0.secret = secret }
  }

  func stop() async {
    await server.stop(within: .seconds(1))
  }
}

extension WebhookReceiver.State {
  /// Takes a message and answers the status.
  fileprivate mutating func take(_ request: HTTPRequest) -> Int {
    let id = request.header("webhook-id") ?? ""
    let time = request.header("webhook-timestamp") ?? ""
    let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count))) ?? Data()
    let code = HMACSHA256.code(for: Array("\(id).\(time).".utf8) + request.body, key: Array(key))
    let signature = "v1,\(Data(code).base64EncodedString())"
    let status = refusals > 0 ? 503 : 204
    refusals = max(0, refusals - 1)
    messages.append(
      .init(
        id: id, isSigned: request.header("webhook-signature") == signature, status: status,
        json: try? JSONValue(parsing: request.body)))
    return status
  }
}
