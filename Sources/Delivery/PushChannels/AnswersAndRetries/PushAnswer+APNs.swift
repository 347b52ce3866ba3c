import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

extension PushAnswer {
  /// Returns the meaning of an answer of APNs.
  ///
  /// - Parameters:
  ///   - code: The `reason` of the answer's body.
  ///   - timestamp: The `timestamp` of the answer's body, which APNs sends with status 410.
  ///   - retryAfter: The seconds of the `Retry-After` header field.
  public static func apns(
    _ status: Int, _ code: String? = nil, timestamp: Timestamp? = nil, retryAfter: Double? = nil
  ) -> PushAnswer {
    guard status != 200 else { return PushAnswer(next: .done, reason: "", status: 200) }
    let rule = PushAnswerRules.apns.rule(status, code)
    let reason =
      rule.advice.map { "APNs answered \(status) \(code ?? "without a reason"): \($0)" }
      ?? code.map { "\(status) \($0)" } ?? String(status)
    return PushAnswer(
      next: rule.next, reason: reason, status: status, code: code, invalidSince: timestamp,
      retryAfter: retryAfter)
  }

  /// Creates the answer of APNs in a response. If the body is not JSON, the answer has no code and
  /// no time.
  init(_ response: HTTP2Response) {
    // Nearly all pushes are accepted, and nothing else of such a response is used.
    if response.status == 200 {
      self = .apns(200)
      return
    }
    // A body that is not JSON says nothing more than the status.
    let body = response.body.isEmpty ? nil : try? JSONValue(parsing: Data(response.body))
    self = .apns(
      response.status, body?["reason"]?.string,
      timestamp: body?["timestamp"]?.int.map { Timestamp(milliseconds: $0) },
      retryAfter: response.headers["retry-after"].flatMap { Double($0) })
  }

  init(_ error: HTTP2Error) {
    self = error.isSafeToRepeat ? .notSent(error.reason) : .unanswered(error.reason)
  }

  /// Whether APNs refused the provider token as too old.
  var saysTokenExpired: Bool { status == 403 && code == "ExpiredProviderToken" }

  /// Whether APNs reports that the provider token changes too often.
  var saysTooManyTokens: Bool { status == 429 && code == "TooManyProviderTokenUpdates" }
}
