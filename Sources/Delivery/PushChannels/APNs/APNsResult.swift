import CloudKitModel

/// The result of sending one push.
public enum APNsResult: Sendable, Hashable {
  /// APNs answered.
  ///
  /// - status: the HTTP status; 200 when APNs accepted the push.
  /// - reason: `reason` of the answer's body.
  /// - timestamp: `timestamp` of the answer's body, with 410.
  /// - apnsID: the answer's `apns-id`.
  /// - retryAfter: the seconds of a `Retry-After` header.
  case answered(
    status: Int, reason: String?, timestamp: Timestamp?, apnsID: String?, retryAfter: Double?)
  /// APNs did not process the push, so it can safely be sent again. The text says why.
  case notSent(String)
  /// The connection was lost before the answer came, so APNs may have accepted the push. The text
  /// says how.
  case unknown(String)
}

extension DeliveryOutcome {
  /// The outcome of one attempt.
  ///
  /// - Parameter attempt: the basis of a delay.
  public static func of(_ result: APNsResult, attempt: DeliveryAttempt) -> DeliveryOutcome {
    switch result {
    case _ where result.saysTokenExpired:
      // If another token could help, the client has already sent the push again with it.
      .suspend(
        .route,
        message: "APNs calls a provider token expired that was made less than 20 minutes ago, so "
          + "this machine's clock is wrong; set it right")
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
