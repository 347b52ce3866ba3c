import CloudKitModel

extension DeliveryOutcome {
  /// Returns the outcome for an answer of APNs.
  ///
  /// - Parameters:
  ///   - status: The HTTP status.
  ///   - reason: `reason` of the answer's body.
  ///   - timestamp: `timestamp` of the answer's body.
  ///   - retryAfter: The seconds of a `Retry-After` header field.
  ///   - attempt: The basis of the delay before a retry.
  public static func of(
    status: Int, reason: String?, timestamp: Timestamp? = nil, retryAfter: Double? = nil,
    attempt: DeliveryAttempt
  ) -> DeliveryOutcome {
    switch DeliveryRule.rule(status: status, reason: reason).action {
    case .accept:
      return .delivered
    case .dropDeviceToken:
      return .dropDeviceToken(invalidSince: timestamp)
    case .retry(let policy, let scope):
      return .retry(after: attempt.delay(by: policy, for: scope, retryAfter: retryAfter), scope)
    case .refreshProviderToken:
      return .refreshProviderToken
    case .suspend(let scope, let advice):
      return .suspend(
        scope, message: "APNs answered \(status) \(reason ?? "without a reason"): \(advice)")
    case .blameSender:
      return .fault(
        message: "APNs answered \(status) \(reason ?? "without a reason"), which a push of this "
          + "server should never cause; the server does not send the push again")
    }
  }

  /// Returns the outcome for a push that APNs did not process.
  ///
  /// The push was never written, was refused before processing, or was above the last stream of a
  /// GOAWAY. A repetition cannot show it twice.
  public static func ofNotSent(attempt: DeliveryAttempt) -> DeliveryOutcome {
    .retry(after: attempt.delay(by: .reconnect, for: .push), .push)
  }

  /// Returns the outcome for a push whose answer never came.
  ///
  /// APNs may have accepted it. A repetition may show it twice; without one, it may be lost. Petrel
  /// repeats it with the same `apns-id`.
  public static func ofUnknown(attempt: DeliveryAttempt) -> DeliveryOutcome {
    .retry(after: attempt.delay(by: .reconnect, for: .push), .push)
  }
}
