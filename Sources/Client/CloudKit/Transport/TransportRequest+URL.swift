extension TransportRequest {
  /// Nil if the parts do not form a valid URL.
  package func url(below serverURL: URL) -> URL? {
    switch target {
    case .asset(let url):
      return url
    case .courier(let url, let lastEventID):
      guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
        return nil
      }
      let query = components.percentEncodedQuery.map { "\($0)&" } ?? ""
      components.percentEncodedQuery = "\(query)lastEventId=\(Self.encode(lastEventID))"
      return components.url
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

  package var contentType: String {
    if case .asset = target { "application/octet-stream" } else { "application/json" }
  }

  // The characters that need no encoding (RFC 3986, section 2.3). Foundation's set for queries does
  // not encode '+', '/' and '=', which web auth tokens often contain.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func encode(_ text: String, allowing set: CharacterSet = unreserved) -> String {
    text.addingPercentEncoding(withAllowedCharacters: set) ?? ""
  }
}

extension TransportFailure {
  package init(noURLOf request: TransportRequest) {
    self.init(.unreachable, "the server's URL and \(request.target) do not form a valid URL")
  }

  /// Without a host, returns `the server`.
  static func place(_ url: URL?) -> String {
    guard let url, let host = url.host else { return "the server" }
    return url.port.map { "\(host):\($0)" } ?? host
  }
}
