/// The ID of a connection of an ``HTTP2Server``. A server gives its connections rising numbers and
/// uses no number twice.
public struct HTTP2ConnectionID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number, from 1.
  public var rawValue: UInt64

  /// Creates an ID from its number.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  public static func < (left: HTTP2ConnectionID, right: HTTP2ConnectionID) -> Bool {
    left.rawValue < right.rawValue
  }

  public var description: String { String(rawValue) }
}

/// A whole request that came to an ``HTTP2Server``. ``respond(_:)`` answers the request.
public struct HTTP2ServerRequest: Sendable {
  /// The connection on which the request came.
  public let connection: HTTP2ConnectionID
  /// The ID of the stream. The IDs of a connection are odd and rise with each request.
  public let stream: Int32
  /// The header fields, including the pseudo-header fields `:method`, `:path` and so on.
  public let headers: HTTP2Headers
  /// The whole body; empty for a request without one.
  public let body: [UInt8]
  let answerer: HTTP2ServerConnection

  /// The request's method; empty if the client sent none.
  public var method: String { headers[":method"] ?? "" }
  /// The request's path and query, as sent; empty if the client sent none.
  public var path: String { headers[":path"] ?? "" }

  /// Answers the request, from any thread, at once or later.
  ///
  /// The server sends the first answer and ignores further ones. It also ignores an answer after
  /// the end of the stream or of the connection.
  public func respond(_ response: HTTP2Response) {
    answerer.answer(response, stream: stream)
  }

  /// Creates a response from its parts and answers the request with it, as ``respond(_:)`` does.
  public func respond(status: Int, headers: HTTP2Headers = [:], body: [UInt8] = []) {
    respond(HTTP2Response(status: status, headers: headers, body: body))
  }
}
