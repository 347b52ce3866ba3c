/// A way to send requests to a server and to get its answers.
///
/// The module has ``CurlTransport`` for Linux and ``URLSessionTransport`` for Apple's systems.
/// Tests and servers in the same process use transports of their own.
package protocol WebServicesTransport: Sendable {
  /// Sends a request.
  ///
  /// - Parameter completion: Called exactly once with the result, on any thread. The call can come
  ///   before `send` returns.
  /// - Returns: A function that cancels the request. The completion then gets
  ///   ``TransportFailure/Kind/cancelled``. After the end of the request the function does nothing.
  func send(
    _ request: TransportRequest,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void

  /// Transfers the bytes of an asset between a file and the server. The default implementation
  /// sends the whole file in one request with ``send(_:completion:)``.
  ///
  /// - Parameters:
  ///   - transfer: The file, the URL and the timeout.
  ///   - progress: Called with the number of bytes transferred so far, on any thread, in order and
  ///     before `completion`.
  ///   - completion: Called as in ``send(_:completion:)``. After a status of 200–299, the file of a
  ///     download exists, and the body of the answer is empty. After any other result, a download
  ///     leaves no file.
  /// - Returns: A function that cancels the transfer.
  func transfer(
    _ transfer: AssetTransfer, progress: @escaping @Sendable (Int64) -> Void,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void

  /// Notes that the client is going to send requests by itself: it handles a notification, or a sync
  /// engine waits a moment before it sends. The default implementation does nothing.
  ///
  /// - Returns: A function that ends the note. The client calls it once.
  func expectRequests() -> @Sendable () -> Void
}

extension WebServicesTransport {
  package func expectRequests() -> @Sendable () -> Void { {} }
}

/// A transfer of an asset's bytes, for any transport.
package struct AssetTransfer: Sendable, Hashable {
  /// The direction of a transfer.
  package enum Direction: Sendable, Hashable {
    /// The client sends the bytes of this file in a POST.
    case upload(from: URL)
    /// The client writes the bytes of the answer to a GET into this file. The file must not exist
    /// yet.
    case download(to: URL)
  }

  package var direction: Direction
  /// The URL exactly as the server returned it.
  package var url: URL
  /// The seconds without a byte in either direction after which the transfer fails with `timedOut`.
  package var timeout: TimeInterval

  package init(_ direction: Direction, at url: URL, timeout: TimeInterval) {
    self.direction = direction
    self.url = url
    self.timeout = timeout
  }
}

/// A request to the server, for any transport.
package struct TransportRequest: Sendable, Hashable {
  /// The HTTP method.
  package enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  /// The destination of a request.
  package enum Target: Sendable, Hashable {
    /// A path below the server's URL, and the query of the URL. The texts are not percent-encoded
    /// yet.
    case path(String, query: [QueryItem])
    /// The URL of the web courier, from which a client fetches notifications, as the server returned
    /// it, and the ID of the last event that the client has; empty without one. The request is a long
    /// poll: the server answers it when there is a notification or after some time.
    case courier(URL, lastEventID: String)
    /// The URL of an asset's bytes exactly as the server returned it. The body of a POST has the
    /// bytes themselves, not JSON.
    case asset(URL)
  }

  /// A name and its value in the query of a URL.
  package struct QueryItem: Sendable, Hashable {
    /// The name, not percent-encoded.
    package var name: String
    /// The value, not percent-encoded.
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package var method: Method
  package var target: Target
  package var body: Data?
  /// The seconds without a byte in either direction after which the request fails with `timedOut`.
  package var timeout: TimeInterval

  package init(method: Method, target: Target, body: Data?, timeout: TimeInterval) {
    self.method = method
    self.target = target
    self.body = body
    self.timeout = timeout
  }

  var webAuthToken: String? {
    guard case .path(_, let query) = target else { return nil }
    return query.first { $0.name == Self.webAuthTokenName }?.value
  }

  /// The name that the web auth token has in the query of a URL.
  static let webAuthTokenName = "ckWebAuthToken"
}

/// An answer of the server, with any status.
package struct TransportResponse: Sendable {
  package var status: Int
  /// The values of the headers. The keys are the names in lower case.
  package var headers: [String: String]
  /// The body; empty after a download to a file.
  package var body: Data

  /// Makes an answer. The names of the headers become lower case. If two names differ only in case,
  /// the answer has the value of one of them.
  package init(status: Int, headers: [String: String] = [:], body: Data) {
    self.status = status
    self.headers = Dictionary(
      headers.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
    self.body = body
  }
}

/// The failure of a request that got no answer.
package struct TransportFailure: Error, Sendable {
  /// The kind of a failure. By it the client decides whether the server may have received the
  /// request.
  package enum Kind: Sendable, Hashable {
    /// There is no network, or no host of this name. The server did not receive the request.
    case offline
    /// The client cannot connect to the server. The server did not receive the request.
    case unreachable
    /// No answer came in time. The server may have received the request.
    case timedOut
    /// The connection broke before the whole answer arrived. The server may have received the
    /// request.
    case answerLost
    /// The file of an upload cannot be read.
    case unreadableFile
    /// The file of a download cannot be written.
    case unwritableFile
    /// The program cancelled the request.
    case cancelled
  }

  package var kind: Kind
  package var reason: String

  package init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}
