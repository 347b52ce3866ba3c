import Foundation
import HTTPService
import WebServices

extension FailureJournal {
  /// The body for a request that the HTTP server refuses by itself, in the protocol's form.
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
    // What a good upload may meet: which request it is, is not known yet.
    return refusal.status == 413 || refusal.status == 503 ? error.uploadBody : error.body
  }
}
