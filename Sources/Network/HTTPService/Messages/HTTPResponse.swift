import Foundation

/// The answer of a handler.
///
/// ```swift
/// HTTPResponse(status: 404, headers: [("Content-Type", "text/plain")], body: .data(Data("no\n".utf8)))
/// ```
public struct HTTPResponse: Sendable {
  /// The HTTP status, 200 to 599. Any other makes the answer a 500.
  public var status: Int
  /// The header fields in order; a name may occur more than once.
  ///
  /// The server sets `Date`, `Content-Length`, `Transfer-Encoding` and `Connection: keep-alive`
  /// itself. A `Content-Length` or `Transfer-Encoding` given here is left out. `Connection: close`
  /// is honoured.
  ///
  /// A name or value with bytes that a header field may not have, such as a line break, makes the
  /// answer a 500.
  public var headers: [(String, String)]
  /// The body. It is not sent for `HEAD` and for the statuses 204 and 304. Give `HEAD` the same
  /// body as `GET`, so that `Content-Length` is the same.
  public var body: HTTPBody
  /// The server calls this once if it does not send the whole answer, or if the client had closed its
  /// connection before. An answer that was sent may still be lost on its way.
  public var ifUnsent: (@Sendable () -> Void)?

  /// Creates an answer; by default status 200 with an empty body.
  public init(status: Int = 200, headers: [(String, String)] = [], body: HTTPBody = .empty) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
