#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport that sends requests over HTTP with Foundation's `URLSession`, on Apple's systems.
///
/// Linux uses ``CurlTransport``, and compiles this class for tests only.
package final class URLSessionTransport: WebServicesTransport {
  private let serverURL: URL

  package init(serverURL: URL) {
    self.serverURL = serverURL
  }

  /// Sends a request. Long polls of the web courier have a session of their own.
  package func send(
    _ request: TransportRequest,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    guard let url = request.url(below: serverURL) else {
      completion(.failure(TransportFailure(noURLOf: request)))
      return {}
    }
    let urlRequest = urlRequest(for: request, to: url)
    let task = session(for: request).dataTask(with: urlRequest) { data, response, error in
      if let response = response as? HTTPURLResponse, error == nil {
        completion(.success(TransportResponse(response, body: data ?? Data())))
      } else {
        completion(.failure(TransportFailure(error, url: url)))
      }
    }
    task.resume()
    return { task.cancel() }
  }

  // MARK: Sessions

  // All containers share these sessions, so requests can use connections again. A session stores
  // nothing about a user: the credentials are in each request.
  private static let requests = session(connectionsPerHost: 8)
  // A long poll keeps its connection busy. Long polls have a session of their own, so that they
  // cannot delay requests.
  private static let longPolls = session(connectionsPerHost: 256)

  static func session(
    connectionsPerHost: Int, delegate: (any URLSessionDelegate)? = nil
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  private func session(for request: TransportRequest) -> URLSession {
    switch request.target {
    case .path, .asset: Self.requests
    case .courier: Self.longPolls
    }
  }

  // MARK: Requests

  /// The longest timeout, in seconds: one year. Longer timeouts are shortened to this one.
  private static let longestTimeout: TimeInterval = 365 * 24 * 60 * 60

  private func urlRequest(for request: TransportRequest, to url: URL) -> URLRequest {
    var urlRequest = URLRequest(url: url)
    urlRequest.httpMethod = request.method.rawValue
    // Foundation on Linux counts the timeout in whole seconds, as an `Int`.
    urlRequest.timeoutInterval = min(max(1, request.timeout.rounded(.up)), Self.longestTimeout)
    if let body = request.body {
      urlRequest.httpBody = body
      urlRequest.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
    }
    return urlRequest
  }
}

extension TransportResponse {
  init(_ response: HTTPURLResponse, body: Data) {
    var headers: [String: String] = [:]
    for case (let name as String, let value as String) in response.allHeaderFields {
      headers[name] = value
    }
    self.init(status: response.statusCode, headers: headers, body: body)
  }
}

extension TransportFailure {
  init(_ error: (any Error)?, url: URL?) {
    let place = Self.place(url)
    switch (error as? URLError)?.code {
    case .notConnectedToInternet?, .cannotFindHost?, .dnsLookupFailed?:
      self.init(.offline, "\(place) cannot be found; is there a network?")
    case .cannotConnectToHost?, .unsupportedURL?, .badURL?,
      .appTransportSecurityRequiresSecureConnection?:
      self.init(.unreachable, "\(place) cannot be connected to; is a server running there?")
    case .timedOut?:
      self.init(.timedOut, "\(place) did not answer in time")
    case .cancelled?:
      self.init(.cancelled, "the request was cancelled")
    default:
      let detail = error.map { ": \($0.localizedDescription)" } ?? ""
      self.init(.answerLost, "the connection to \(place) broke\(detail)")
    }
  }
}
