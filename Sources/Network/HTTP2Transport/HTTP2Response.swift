/// The whole answer to a request.
public struct HTTP2Response: Sendable, Hashable {
  /// The HTTP status, such as 200.
  public var status: Int
  /// The header fields without `:status`, followed by the trailer fields if there are any.
  public var headers: HTTP2Headers
  /// The whole body; empty if the answer has none.
  public var body: [UInt8]

  /// Creates an answer.
  public init(status: Int, headers: HTTP2Headers = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
