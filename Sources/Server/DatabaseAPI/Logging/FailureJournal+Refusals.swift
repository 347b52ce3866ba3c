import Foundation
import HTTPService
import WebServices

extension FailureJournal {
  /// Records a request that the HTTP server refused before a handler saw it, and returns the error
  /// object for the answer.
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
    // A failed upload needs an error object of its own, and may get these two statuses. The request
    // is not parsed yet, so every refusal with these statuses has that object, which other clients
    // can read too.
    return refusal.status == 413 || refusal.status == 503 ? error.uploadBody : error.body
  }
}
