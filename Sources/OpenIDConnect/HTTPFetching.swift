import Foundation

/// A way to send an HTTP request and get the whole answer.
public protocol HTTPFetching: Sendable {
  /// Gets a URL, or posts a form to it when there is one.
  ///
  /// - Throws: ``OpenIDError/Code/unreachable``, and ``OpenIDError/Code/badAnswer`` for an answer
  ///   that is too long.
  func fetch(
    _ url: String, form: String?, authorization: String?
  ) async throws(OpenIDError) -> FetchedAnswer
}

/// What came back.
public struct FetchedAnswer: Sendable, Hashable {
  public var status: Int
  public var body: Data
  /// The header field `Date`.
  public var date: String?

  public init(status: Int, body: Data, date: String? = nil) {
    self.status = status
    self.body = body
    self.date = date
  }
}
