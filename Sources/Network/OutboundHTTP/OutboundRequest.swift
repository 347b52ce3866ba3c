/// A request to a URL that somebody else named.
public struct OutboundRequest: Sendable, Hashable {
  public enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  /// An absolute URL; see ``OutboundURL`` for what it may be.
  public var url: OutboundURL
  /// Names and values. One that may not stand in a header (a line break, say) makes the request
  /// ``OutboundError/Code/unsendable``.
  public var headers: [(name: String, value: String)]
  public var method: Method
  /// The body of the POST; a GET has none.
  public var body: [UInt8]

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
