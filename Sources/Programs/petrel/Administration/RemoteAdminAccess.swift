import CommandInterface
import Foundation
import HTTPService
import JSONCoding
import OutboundHTTP

/// The admin API of a running server: over HTTP with an admin key, or through the socket in its
/// data directory.
struct RemoteAdminAccess: AdminAccess {
  /// The most bytes of an answer: 512 MiB. A page has at most 200 records of up to a megabyte each.
  private static let answerLimit = 512 << 20

  private let server: String
  private let name: String
  /// The admin key; `nil` for the socket, through which calls need no key.
  private let key: AdminKeySource.Key?
  private let client: HTTPClient

  /// Creates the access to a server with a URL such as `https://cloud.example.com`.
  ///
  /// The initializer prints a warning if the key would leave this machine without TLS.
  ///
  /// - Throws: `UsageError` if the text is no URL of a server.
  init(server: String, key: AdminKeySource.Key) throws {
    self.server = server.hasSuffix("/") ? String(server.dropLast()) : server
    name = self.server
    self.key = key
    do {
      _ = try OutboundURL(self.server, allowsHTTP: true, rules: .anywhere)
    } catch {
      throw UsageError("--server '\(server)' \(error)")
    }
    if self.server.hasPrefix("http:"), !Self.isOnThisMachine(self.server) {
      Output.complain("the admin key is sent to \(self.server) without TLS: others can read it")
    }
    client = try HTTPClient(Self.configuration, name: "petrel-admin")
  }

  init(socket: SocketFile) throws {
    server = "http://localhost"
    name = "the server at '\(socket.path)'"
    key = nil
    var configuration = Self.configuration
    configuration.socketPath = socket.path
    client = try HTTPClient(configuration, name: "petrel-admin")
  }

  private static func isOnThisMachine(_ server: String) -> Bool {
    guard let host = URLComponents(string: server)?.encodedHost?.lowercased() else { return false }
    return host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
  }

  private static var configuration: HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration()
    configuration.rules = .anywhere
    configuration.allowsHTTP = true
    configuration.answerBytes = answerLimit
    // The limit for an answer, in seconds. A server ends its event streams earlier, after 300
    // seconds.
    configuration.time = 600
    return configuration
  }

  /// Closes the connections, which also ends the streams of ``stream(_:)``.
  func close() async { await client.close() }

  func answer(to call: AdminCall) async throws -> (status: Int, body: Data) {
    let answer = try await send(call)
    return (answer.status, Data(answer.body))
  }

  func transfer(_ file: AssetTransfer) async throws -> (status: Int, body: Data) {
    // The URL is signed, so it needs no key.
    let answer =
      switch file {
      case .upload(let data, _):
        try await send(.post, to: server + file.path, headers: [], body: Array(data))
      case .download:
        try await send(.get, to: server + file.path, headers: [])
      }
    return (answer.status, Data(answer.body))
  }

  /// Returns the pieces of a streamed answer as they arrive. The stream ends with the answer or
  /// when the client is closed. It fails with ``AdminFailure`` if the server refuses the call.
  func stream(_ call: AdminCall) -> AsyncThrowingStream<[UInt8], any Error> {
    // The buffer holds up to 10,000 pieces, so the reader of the stream may be slow for a while.
    // If the buffer is full, the stream fails.
    let (stream, pieces) = AsyncThrowingStream.makeStream(
      of: [UInt8].self, bufferingPolicy: .bufferingOldest(10_000))
    Task {
      do {
        let answer = try await send(call) { piece in
          if case .dropped = pieces.yield(piece) {
            pieces.finish(throwing: AdminFailure("events arrive faster than they can be shown"))
          }
        }
        if !(200..<300).contains(answer.status) {
          // If the answer is no JSON, the failure contains only the status.
          let json = try? JSONValue(parsing: Data(answer.body))
          var failure =
            json.flatMap { AdminFailure($0) }
            ?? AdminFailure("\(call.path) was answered with status \(answer.status)")
          failure.remark = remark(on: failure)
          throw failure
        }
        pieces.finish()
      } catch {
        pieces.finish(throwing: error)
      }
    }
    return stream
  }

  private func send(
    _ call: AdminCall, receive: HTTPClient.Receiver? = nil
  ) async throws -> OutboundAnswer {
    try await send(
      call.method == .get ? .get : .post, to: "\(server)/admin/v1/\(call.target)",
      headers: [(name: "Content-Type", value: "application/json")]
        + (key.map { [(name: "Authorization", value: "Bearer \($0.text)")] } ?? []),
      body: Array(call.body), receive: receive)
  }

  private func send(
    _ method: OutboundRequest.Method, to url: String,
    headers: [(name: String, value: String)], body: [UInt8] = [],
    receive: HTTPClient.Receiver? = nil
  ) async throws -> OutboundAnswer {
    do {
      let request = OutboundRequest(
        method, url: try OutboundURL(url, allowsHTTP: true, rules: .anywhere),
        headers: headers, body: body)
      return try await client.send(request, receive: receive)
    } catch let error as OutboundURL.Flaw {
      throw AdminFailure("\(url.prefix(200)) \(error)")
    } catch let error as OutboundError {
      throw AdminFailure("no answer from \(name): \(error)")
    }
  }

  func remark(on failure: AdminFailure) -> String? {
    switch failure.code {
    case "AUTHENTICATION_FAILED": key.map { "the key came from \($0.origin)" }
    case "INTERNAL_ERROR": failure.uuid.map { "find \($0) in the server's log" }
    default: nil
    }
  }
}
