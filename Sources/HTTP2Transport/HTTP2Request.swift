/// A request to send.
public struct HTTP2Request: Sendable {
  /// The method and path as pseudo-header fields, then the request's own; `:scheme` and
  /// `:authority` come from the connection.
  public var headers: HTTP2Headers
  public var body: [UInt8]

  /// A request without header fields of its own; append them to ``headers``.
  public init(method: String, path: String, body: [UInt8] = []) {
    headers = HTTP2Headers()
    headers.reserve(fields: 10, bytes: 512)
    headers.append(":method", method)
    headers.append(":path", path, indexed: false)
    self.body = body
  }
}
