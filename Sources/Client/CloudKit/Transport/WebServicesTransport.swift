/// The way of a request to the server and of its answer back.
///
/// The module's own are ``CurlTransport`` on Linux and ``URLSessionTransport`` on Apple's systems; another one can
/// stand in for them, for a server in the same process or for tests.
package protocol WebServicesTransport: Sendable {
  /// Sends `request`.
  ///
  /// - Parameter completion: called exactly once, on any thread, never before `send` is under way
  ///   and perhaps before it returns.
  /// - Returns: what cancels the request. Cancelling a request that is over does nothing; the
  ///   completion of one that is not gets ``TransportFailure/Kind/cancelled``.
  func send(
    _ request: TransportRequest,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void

  /// Moves the bytes of an asset between a file and the server. A transport that has no way of its
  /// own gets one that carries the whole file in one request through ``send(_:completion:)``.
  ///
  /// - Parameters:
  ///   - progress: called on any thread, in order and before the completion, with the number of
  ///     bytes that are moved so far.
  ///   - completion: as for ``send(_:completion:)``. The file of a download is there when the status
  ///     is 2xx, and the answer's body is empty then. Whatever else becomes of a download, it
  ///     leaves no file.
  func transfer(
    _ transfer: AssetTransfer, progress: @escaping @Sendable (Int64) -> Void,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void
}

/// The way of an asset's bytes, whatever carries them.
package struct AssetTransfer: Sendable, Hashable {
  package enum Direction: Sendable, Hashable {
    /// POSTs the bytes of this file.
    case upload(from: URL)
    /// GETs the bytes into this file, which does not exist yet.
    case download(to: URL)
  }

  package var direction: Direction
  /// The URL exactly as the server gave it.
  package var url: URL
  /// Seconds without a byte in either direction before the transfer counts as timed out.
  package var timeout: TimeInterval

  package init(_ direction: Direction, at url: URL, timeout: TimeInterval) {
    self.direction = direction
    self.url = url
    self.timeout = timeout
  }
}

/// A request, whatever carries it.
package struct TransportRequest: Sendable, Hashable {
  package enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  package enum Target: Sendable, Hashable {
    /// A path below the server's URL. Nothing is percent-encoded yet.
    case path(String, query: [QueryItem])
    /// The web courier's URL, exactly as the server gave it: a long poll.
    case courier(URL)
    /// Where an asset's bytes go to or come from, exactly as the server gave it. The body of a POST
    /// is the bytes themselves, not JSON.
    case asset(URL)
  }

  package struct QueryItem: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package var method: Method
  package var target: Target
  package var body: Data?
  /// Seconds without any sign of the answer before the request counts as timed out.
  package var timeout: TimeInterval

  package init(method: Method, target: Target, body: Data?, timeout: TimeInterval) {
    self.method = method
    self.target = target
    self.body = body
    self.timeout = timeout
  }

  /// The web auth token that the request bears.
  var webAuthToken: String? {
    guard case .path(_, let query) = target else { return nil }
    return query.first { $0.name == Self.webAuthTokenName }?.value
  }

  static let webAuthTokenName = "ckWebAuthToken"
}

/// An answer, whatever its status.
package struct TransportResponse: Sendable {
  package var status: Int
  /// By names in lower case.
  package var headers: [String: String]
  package var body: Data

  package init(status: Int, headers: [String: String] = [:], body: Data) {
    self.status = status
    self.headers = Dictionary(
      headers.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
    self.body = body
  }
}

/// Why there is no answer.
package struct TransportFailure: Error, Sendable {
  package enum Kind: Sendable, Hashable {
    /// There is no network, or no such host. The server did not get the request.
    case offline
    /// The server cannot be connected to. It did not get the request.
    case unreachable
    /// No answer in time: whether the server got the request is not known.
    case timedOut
    /// The connection broke: whether the server got the request is not known.
    case answerLost
    /// The file of an upload cannot be read.
    case unreadableFile
    /// The file of a download cannot be written.
    case unwritableFile
    case cancelled
  }

  package var kind: Kind
  /// What was wrong, for people.
  package var reason: String

  package init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}
