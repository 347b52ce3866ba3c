import Foundation
import HTTPService
import Testing

@testable import CloudKit

/// The transports that send over sockets.
enum HTTPTransport: String, CaseIterable {
  case curl, urlSession

  func make(serverURL: URL) -> any WebServicesTransport {
    switch self {
    case .curl: CurlTransport(serverURL: serverURL)
    case .urlSession: URLSessionTransport(serverURL: serverURL)
    }
  }

  func container(_ url: URL, token: String? = nil) -> CKContainer {
    CKContainer(
      identifier: "iCloud.com.example.app",
      configuration: PetrelConfiguration(
        serverURL: url, webAuthToken: token, apiToken: "k", deviceID: "my phone"),
      transport: make(serverURL: url))
  }

  /// Calls `body` with the URL of a server.
  static func withServer<Result>(
    _ handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
    _ body: (URL) async throws -> Result
  ) async throws -> Result {
    let server = HTTPServer(configuration: .init(), handler: handler)
    try server.start()
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
    do {
      let result = try await body(url)
      await server.stop(within: .seconds(5))
      return result
    } catch {
      await server.stop(within: .seconds(5))
      throw error
    }
  }

  /// Comes back when the task is cancelled, as that of a handler is whose client has gone.
  static func untilCancelled() async {
    for await _ in AsyncStream<Void>(Void.self, { _ in }) {}
  }
}
