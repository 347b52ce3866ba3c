/// A request to send.
public struct HTTP2Request: Sendable {
  /// The method and path as pseudo-header fields, then the request's own; `:scheme` and
  /// `:authority` come from the connection.
  public var headers: HTTP2Headers
  public var body: [UInt8]

  /// A request without header fields of its own; append them to ``headers``.
  public init(method: String, path: String, body: [UInt8] = []) {
    self.init(method: method, body: body) { $0.append(contentsOf: path.utf8) }
  }

  /// The same, with a path that is written straight into the header fields' buffer.
  public init(method: String, body: [UInt8], writingPath write: (inout [UInt8]) -> Void) {
    headers = HTTP2Headers()
    headers.reserve(fields: 10, bytes: 512)
    headers.append(":method", method)
    headers.append(":path", indexed: false, write)
    self.body = body
  }
}
