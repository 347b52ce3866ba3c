import Foundation

/// What a handler answers.
///
/// ```swift
/// HTTPResponse(status: 404, headers: [("Content-Type", "text/plain")], body: .data(Data("no\n".utf8)))
/// ```
public struct HTTPResponse: Sendable {
  /// 200 to 599.
  public var status: Int
  /// Header fields in order; a name may occur more than once. `Date`, `Content-Length`,
  /// `Transfer-Encoding` and `Connection: keep-alive` are the server's own: a `Content-Length` or
  /// `Transfer-Encoding` given here is left out. `Connection: close` is honoured.
  ///
  /// A name or value that may not stand in a header (a line break, say) makes the answer a 500.
  public var headers: [(String, String)]
  /// The body. For `HEAD` and for the statuses 204 and 304 it is not sent; give the same body as
  /// for `GET`, so that `Content-Length` is the same.
  public var body: HTTPBody

  public init(status: Int = 200, headers: [(String, String)] = [], body: HTTPBody = .empty) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
