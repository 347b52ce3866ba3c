/// A request that the server sends to a URL which somebody registered.
public struct OutboundRequest: Sendable, Hashable {
  /// An absolute URL; see ``OutboundURL`` for what it may be.
  public var url: OutboundURL
  /// Names and values, written as they are: no line breaks.
  public var headers: [(name: String, value: String)]
  /// The body of the POST.
  public var body: [UInt8]

  public init(
    url: OutboundURL, headers: [(name: String, value: String)], body: [UInt8]
  ) {
    self.url = url
    self.headers = headers
    self.body = body
  }

  public static func == (left: OutboundRequest, right: OutboundRequest) -> Bool {
    left.url == right.url && left.body == right.body
      && left.headers.elementsEqual(right.headers) { $0 == $1 }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(body)
  }
}
