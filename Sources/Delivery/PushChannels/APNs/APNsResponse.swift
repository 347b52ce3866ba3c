import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

extension APNsResult {
  /// Creates the result of an answer. If the body is not JSON, the result has no reason and no
  /// timestamp.
  init(_ response: HTTP2Response) {
    let body = response.body.isEmpty ? nil : try? JSONValue(parsing: Data(response.body))
    self = .answered(
      status: response.status, reason: body?["reason"]?.string,
      timestamp: body?["timestamp"]?.int.map { Timestamp(milliseconds: $0) },
      apnsID: response.headers["apns-id"],
      retryAfter: response.headers["retry-after"].flatMap { Double($0) })
  }

  /// Creates the result of a push that got no answer. The result is ``notSent(_:)`` if APNs
  /// certainly did not process the request, and ``unknown(_:)`` otherwise.
  init(_ error: HTTP2Error) {
    self = error.isSafeToRepeat ? .notSent(error.reason) : .unknown(error.reason)
  }

  /// Whether APNs refused the provider token as expired (403).
  var saysTokenExpired: Bool {
    if case .answered(403, "ExpiredProviderToken", _, _, _) = self { return true }
    return false
  }

  /// Whether APNs reports that the provider token changes too often (429).
  var saysTooManyTokens: Bool {
    if case .answered(429, "TooManyProviderTokenUpdates", _, _, _) = self { return true }
    return false
  }
}
