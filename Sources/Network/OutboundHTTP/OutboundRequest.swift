/// A request to a URL that a user registered or that is in the configuration.
public struct OutboundRequest: Sendable, Hashable {
  /// The method of a request.
  public enum Method: String, Sendable {
    /// Reads a resource; the request has no body.
    case get = "GET"
    /// Sends a body.
    case post = "POST"
  }

  /// The absolute URL; ``OutboundURL`` has the rules for it.
  public var url: OutboundURL
  /// The header fields. A name or value with bytes that a field may not have (a line break, for
  /// example) makes the request fail with ``OutboundError/Code/unsendable``.
  public var headers: [(name: String, value: String)]
  /// The method.
  public var method: Method
  /// The body of a POST; a GET sends none.
  public var body: [UInt8]

  /// Creates a request.
  public init(
    _ method: Method = .post, url: OutboundURL, headers: [(name: String, value: String)],
    body: [UInt8] = []
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  public static func == (left: OutboundRequest, right: OutboundRequest) -> Bool {
    left.method == right.method && left.url == right.url && left.body == right.body
      && left.headers.elementsEqual(right.headers) { $0 == $1 }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(method)
    hasher.combine(url)
    hasher.combine(body)
  }
}
