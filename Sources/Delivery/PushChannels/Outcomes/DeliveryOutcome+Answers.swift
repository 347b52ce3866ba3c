import CloudKitModel

extension DeliveryOutcome {
  /// Returns the outcome for an answer of APNs.
  ///
  /// - Parameters:
  ///   - status: The HTTP status.
  ///   - reason: `reason` of the answer's body; `nil` if there is none.
  ///   - timestamp: `timestamp` of the answer's body; `nil` if there is none.
  ///   - retryAfter: The seconds of the `Retry-After` header field; `nil` if there is none.
  ///   - attempt: The numbers from which the delay before a retry is computed.
  public static func of(
    status: Int, reason: String?, timestamp: Timestamp? = nil, retryAfter: Double? = nil,
    attempt: DeliveryAttempt
  ) -> DeliveryOutcome {
    switch DeliveryRule.rule(status: status, reason: reason).action {
    case .accept:
      return .delivered
    case .dropDeviceToken:
      return .dropDeviceToken(invalidSince: timestamp)
    case .refuseDevice:
      return .refuseDevice(retryAfter: nil)
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
  /// The push was never written, was refused before processing, or was sent after the last request
  /// that a closing connection still processed (GOAWAY). If the server repeats the push, the device
  /// cannot show it twice.
  public static func ofNotSent(attempt: DeliveryAttempt) -> DeliveryOutcome {
    .retry(after: attempt.delay(by: .reconnect, for: .push), .push)
  }

  /// Returns the outcome for a push whose answer never came.
  ///
  /// APNs may have accepted the push. A repeated push may be shown twice; a push that is not
  /// repeated may be lost. Petrel repeats the push with the same `apns-id`.
  public static func ofUnknown(attempt: DeliveryAttempt) -> DeliveryOutcome {
    .retry(after: attempt.delay(by: .reconnect, for: .push), .push)
  }
}
