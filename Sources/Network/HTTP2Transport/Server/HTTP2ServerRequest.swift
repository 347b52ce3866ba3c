/// Names a connection of an ``HTTP2Server``. Numbers rise and are never used again.
public struct HTTP2ConnectionID: Sendable, Hashable, Comparable, CustomStringConvertible {
  public var rawValue: UInt64

  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  public static func < (left: HTTP2ConnectionID, right: HTTP2ConnectionID) -> Bool {
    left.rawValue < right.rawValue
  }

  public var description: String { String(rawValue) }
}

/// A whole request that came to an ``HTTP2Server``, and the way to answer it.
public struct HTTP2ServerRequest: Sendable {
  public let connection: HTTP2ConnectionID
  /// The stream's ID, odd and rising with each request of a connection.
  public let stream: Int32
  /// The header fields, with the pseudo-header fields `:method`, `:path` and so on.
  public let headers: HTTP2Headers
  public let body: [UInt8]
  let answerer: HTTP2ServerConnection

  public var method: String { headers[":method"] ?? "" }
  public var path: String { headers[":path"] ?? "" }

  /// Answers the request, from any thread, at once or later.
  ///
  /// The first answer counts. One that comes after the stream was reset or the connection was lost
  /// is dropped.
  public func respond(_ response: HTTP2Response) {
    answerer.answer(response, stream: stream)
  }

  public func respond(status: Int, headers: HTTP2Headers = [:], body: [UInt8] = []) {
    respond(HTTP2Response(status: status, headers: headers, body: body))
  }
}
