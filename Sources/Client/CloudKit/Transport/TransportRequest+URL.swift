extension TransportRequest {
  /// Where the request goes, for a server at `serverURL`; nil where no URL can be made of its target.
  package func url(below serverURL: URL) -> URL? {
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

  /// What the body is, as `Content-Type` names it.
  package var contentType: String {
    if case .asset = target { "application/octet-stream" } else { "application/json" }
  }

  // RFC 3986, section 2.3. Foundation's own set for queries leaves '+', '/' and '=' alone, which a
  // web auth token is full of.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func encode(_ text: String, allowing set: CharacterSet = unreserved) -> String {
    text.addingPercentEncoding(withAllowedCharacters: set) ?? ""
  }
}

extension TransportFailure {
  /// Of a request whose target is no URL.
  package init(noURLOf request: TransportRequest) {
    self.init(.unreachable, "no URL can be made of \(request.target)")
  }

  /// The host of a URL with its port, for people.
  static func place(_ url: URL?) -> String {
    guard let url, let host = url.host else { return "the server" }
    return url.port.map { "\(host):\($0)" } ?? host
  }
}
