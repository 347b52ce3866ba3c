import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

extension APNsResult {
  /// What an answer of APNs says.
  init(_ response: HTTP2Response) {
    let body = response.body.isEmpty ? nil : try? JSONValue(parsing: Data(response.body))
    self = .answered(
      status: response.status, reason: body?["reason"]?.string,
      timestamp: body?["timestamp"]?.int.map { Timestamp(milliseconds: $0) },
      apnsID: response.headers["apns-id"],
      retryAfter: response.headers["retry-after"].flatMap { Double($0) })
  }

  /// What is known of a push whose request got no answer.
  init(_ error: HTTP2Error) {
    self = error.isSafeToRepeat ? .notSent(error.reason) : .unknown(error.reason)
  }

  /// Whether APNs refused the provider token as too old.
  var saysTokenExpired: Bool {
    if case .answered(403, "ExpiredProviderToken", _, _, _) = self { return true }
    return false
  }

  /// Whether APNs wants the provider token to be changed less often.
  var saysTooManyTokens: Bool {
    if case .answered(429, "TooManyProviderTokenUpdates", _, _, _) = self { return true }
    return false
  }
}
