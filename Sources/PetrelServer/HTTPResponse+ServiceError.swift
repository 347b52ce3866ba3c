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

  static let jsonHeaders = [("Content-Type", "application/json; charset=utf-8")]
}
