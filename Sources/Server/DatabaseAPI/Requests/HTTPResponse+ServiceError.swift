import Foundation
import HTTPService
import WebServices

extension HTTPResponse {
  /// The answer to a request that fails as a whole.
  package init(_ error: ServiceError) {
    var headers = Self.jsonHeaders
    if let retryAfter = error.retryAfter {
      headers.append(("Retry-After", String(Int(retryAfter.rounded(.up)))))
    }
    self.init(status: error.code.httpStatus, headers: headers, body: .data(error.body))
  }

  /// Puts a line of text in the place of the error object: code, reason and identifier.
  ///
  /// For the web courier, whose readers may take any JSON for a notification: CloudKit JS hands it to
  /// the page's listeners and polls again at once, for ever.
  mutating func putIntoWords(_ error: ServiceError) {
    headers.removeAll { $0.0 == "Content-Type" }
    headers.append(("Content-Type", "text/plain; charset=utf-8"))
    body = .data(Data("\(error) (\(error.uuid))\n".utf8))
  }

  /// An answer with a body of JSON.
  package init(status: Int = 200, json body: Data) {
    self.init(status: status, headers: Self.jsonHeaders, body: .data(body))
  }

  private static let jsonHeaders = [("Content-Type", "application/json; charset=utf-8")]
}
