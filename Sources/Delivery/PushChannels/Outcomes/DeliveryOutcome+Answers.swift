import CloudKitModel

extension DeliveryOutcome {
  /// The outcome of an answer of APNs.
  ///
  /// - Parameters:
  ///   - status: the HTTP status.
  ///   - reason: `reason` of the answer's body.
  ///   - timestamp: `timestamp` of the answer's body.
  ///   - retryAfter: the seconds of a `Retry-After` header.
  ///   - attempt: the basis of a delay.
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
        message: "APNs answered \(status) \(reason ?? "without a reason"), which no push of this "
          + "server should provoke; it is not sent again")
    }
  }

  /// The outcome for a push that APNs did not process: never written, refused before processing, or
  /// above the last stream of a GOAWAY. Sending it again cannot show it twice.
  public static func ofNotSent(attempt: DeliveryAttempt) -> DeliveryOutcome {
    .retry(after: attempt.delay(by: .reconnect, for: .push), .push)
  }

  /// The outcome for a push whose answer never came. APNs may have accepted it, so sending it again
  /// may show it twice, and not sending it may lose it.
  public static func ofUnknown(attempt: DeliveryAttempt) -> DeliveryOutcome {
    .retry(after: attempt.delay(by: .reconnect, for: .push), .push)
  }
}
