import CloudKitModel

/// The result of one request to APNs.
public enum APNsResult: Sendable, Hashable {
  /// APNs answered.
  ///
  /// - `status`: the HTTP status; 200 when APNs accepted the push.
  /// - `reason`: `reason` of the answer's body; `nil` if there is none.
  /// - `timestamp`: `timestamp` of the answer's body, which APNs sends with status 410; otherwise
  ///   `nil`.
  /// - `apnsID`: the `apns-id` header field; `nil` if there is none.
  /// - `retryAfter`: the seconds of the `Retry-After` header field; `nil` if the field is missing
  ///   or is not a number.
  case answered(
    status: Int, reason: String?, timestamp: Timestamp?, apnsID: String?, retryAfter: Double?)
  /// APNs did not process the push, so the sender can repeat it safely. The text gives the reason.
  case notSent(String)
  /// The connection was lost, or the time limit passed, before the answer came. APNs may have
  /// accepted the push. The text gives the reason.
  case unknown(String)
}

extension DeliveryOutcome {
  /// Returns the outcome of one attempt.
  ///
  /// - Parameter attempt: The numbers from which the delay before a retry is computed.
  public static func of(_ result: APNsResult, attempt: DeliveryAttempt) -> DeliveryOutcome {
    switch result {
    case _ where result.saysTokenExpired:
      // If another token could help, the client has already repeated the push with it.
      .suspend(
        .route,
        message: "APNs rejects a provider token as expired that the server created less than 20 "
          + "minutes ago, so this machine's clock is wrong; correct it")
    case .answered(let status, let reason, let timestamp, _, let retryAfter):
      of(
        status: status, reason: reason, timestamp: timestamp, retryAfter: retryAfter,
        attempt: attempt)
    case .notSent:
      ofNotSent(attempt: attempt)
    case .unknown:
      ofUnknown(attempt: attempt)
    }
  }
}
