import Foundation
import HTTPService
import WebServices

extension HTTPResponse {
  /// Creates the answer to a request that fails as a whole: the error object of the protocol, with
  /// the HTTP status of its code.
  ///
  /// `Retry-After` has whole seconds, rounded up. It is absent if the error has no `retryAfter`.
  package init(_ error: ServiceError) {
    var headers = Self.jsonHeaders
    if let retryAfter = error.retryAfter {
      headers.append(("Retry-After", String(Int(retryAfter.rounded(.up)))))
    }
    self.init(status: error.code.httpStatus, headers: headers, body: .data(error.body))
  }

  /// Replaces the error object in the body with a line of plain text: the code, the reason and the
  /// identifier of the error.
  ///
  /// The web courier needs this, because its readers may treat any JSON as a notification. CloudKit
  /// JS would pass an error object to the page's listeners and poll again at once, without end.
  mutating func putIntoWords(_ error: ServiceError) {
    headers.removeAll { $0.0 == "Content-Type" }
    headers.append(("Content-Type", "text/plain; charset=utf-8"))
    body = .data(Data("\(error) (\(error.uuid))\n".utf8))
  }

  package init(status: Int = 200, json body: Data) {
    self.init(status: status, headers: Self.jsonHeaders, body: .data(body))
  }

  private static let jsonHeaders = [("Content-Type", "application/json; charset=utf-8")]
}
