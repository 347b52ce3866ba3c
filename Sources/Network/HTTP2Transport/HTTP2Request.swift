/// A request that a client sends.
public struct HTTP2Request: Sendable {
  /// The pseudo-header fields `:method` and `:path`, then the fields of the request. The connection
  /// adds `:scheme` and `:authority`.
  public var headers: HTTP2Headers
  /// The whole body; empty for a request without one.
  public var body: [UInt8]

  /// Creates a request that has only the pseudo-header fields. Append other fields to ``headers``.
  ///
  /// - Parameter path: path and query, such as `/3/device/00fc13ad`, already percent-encoded.
  public init(method: String, path: String, body: [UInt8] = []) {
    self.init(method: method, body: body) { $0.append(contentsOf: path.utf8) }
  }

  /// Creates a request whose path `write` appends directly to the buffer of the header fields. The
  /// path then needs no string of its own.
  public init(method: String, body: [UInt8], writingPath write: (inout [UInt8]) -> Void) {
    headers = HTTP2Headers()
    headers.reserve(fields: 10, bytes: 512)
    headers.append(":method", method)
    headers.append(":path", indexed: false, write)
    self.body = body
  }
}
