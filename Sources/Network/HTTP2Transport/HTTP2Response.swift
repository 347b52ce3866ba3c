/// The whole answer to a request.
public struct HTTP2Response: Sendable, Hashable {
  public var status: Int
  /// The header fields without `:status`, followed by trailer fields if there are any.
  public var headers: HTTP2Headers
  public var body: [UInt8]

  public init(status: Int, headers: HTTP2Headers = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
