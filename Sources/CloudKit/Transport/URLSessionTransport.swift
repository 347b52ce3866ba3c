#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests over HTTP with Foundation's `URLSession`.
package final class URLSessionTransport: WebServicesTransport {
  private let serverURL: URL

  package init(serverURL: URL) {
    self.serverURL = serverURL
  }

  package func send(
    _ request: TransportRequest,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    guard let urlRequest = urlRequest(for: request) else {
      completion(
        .failure(TransportFailure(.unreachable, "no URL can be made of \(request.target)")))
      return {}
    }
    let task = session(for: request).dataTask(with: urlRequest) { data, response, error in
      if let response = response as? HTTPURLResponse, error == nil {
        completion(.success(TransportResponse(response, body: data ?? Data())))
      } else {
        completion(.failure(TransportFailure(error, url: urlRequest.url)))
      }
    }
    task.resume()
    return { task.cancel() }
  }

  // MARK: Sessions

  // All containers share two sessions, so that their connections are used again. Nothing of a user
  // is kept in a session: credentials are in each request.
  private static let requests = session(connectionsPerHost: 8)
  // A long poll keeps its connection busy; apart, polls cannot starve requests.
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

  /// A year, for timeouts without end.
  private static let longestTimeout: TimeInterval = 365 * 24 * 60 * 60

  package func urlRequest(for request: TransportRequest) -> URLRequest? {
    guard let url = url(of: request.target) else { return nil }
    var urlRequest = URLRequest(url: url)
    urlRequest.httpMethod = request.method.rawValue
    // Whole seconds are what this platform's sessions count, in an integer.
    urlRequest.timeoutInterval = min(max(1, request.timeout.rounded(.up)), Self.longestTimeout)
    if let body = request.body {
      urlRequest.httpBody = body
      urlRequest.setValue(
        request.target.isAsset ? "application/octet-stream" : "application/json",
        forHTTPHeaderField: "Content-Type")
    }
    return urlRequest
  }

  private func url(of target: TransportRequest.Target) -> URL? {
    switch target {
    case .courier(let url), .asset(let url):
      return url
    case .path(let path, let query):
      guard var components = URLComponents(url: serverURL, resolvingAgainstBaseURL: true) else {
        return nil
      }
      let prefix = components.percentEncodedPath
      components.percentEncodedPath =
        (prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix)
        + Self.encode(path, allowing: Self.unreserved.union(CharacterSet(charactersIn: "/")))
      if !query.isEmpty {
        components.percentEncodedQuery =
          query
          .map { "\(Self.encode($0.name))=\(Self.encode($0.value))" }.joined(separator: "&")
      }
      return components.url
    }
  }

  // RFC 3986, section 2.3. Foundation's own set for queries leaves '+', '/' and '=' alone, which a
  // web auth token is full of.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func encode(_ text: String, allowing set: CharacterSet = unreserved) -> String {
    text.addingPercentEncoding(withAllowedCharacters: set) ?? ""
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
    let server = url.flatMap { url in
      url.host.map { host in url.port.map { "\(host):\($0)" } ?? host }
    }
    let place = server ?? "the server"
    switch (error as? URLError)?.code {
    case .notConnectedToInternet?, .cannotFindHost?, .dnsLookupFailed?:
      self.init(.offline, "\(place) cannot be found; is there a network?")
    case .cannotConnectToHost?, .unsupportedURL?, .badURL?,
      .appTransportSecurityRequiresSecureConnection?:
      self.init(.unreachable, "\(place) cannot be connected to")
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
