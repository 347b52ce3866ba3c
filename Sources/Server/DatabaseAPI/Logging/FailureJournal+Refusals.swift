import Foundation
import HTTPService
import WebServices

extension FailureJournal {
  /// Returns the error object for a request that the HTTP server refused before a handler saw it.
  /// The refusal is logged and counted.
  package func body(of refusal: HTTPRefusal) -> Data {
    let code: ServerErrorCode =
      switch refusal.status {
      case 429: .throttled
      case 503: .tryAgainLater
      default: .badRequest
      }
    let error = ServiceError(
      code, refusal.message, retryAfter: refusal.retryAfter.map(Double.init),
      limit: refusal.limit)
    note(error, refusal: refusal)
    // An upload may get these two statuses, and the request is not parsed yet. The body is
    // therefore that of a failed upload, which other clients can read too.
    return refusal.status == 413 || refusal.status == 503 ? error.uploadBody : error.body
  }
}
