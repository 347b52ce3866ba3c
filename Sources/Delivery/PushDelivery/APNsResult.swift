import CloudKitModel

/// What came of sending one push.
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
  /// APNs did not process the push, so it is safe to send it again. The text says why.
  case notSent(String)
  /// The connection was lost before the answer came: APNs may have accepted the push. The text says
  /// how.
  case unknown(String)
}

extension DeliveryOutcome {
  /// The outcome of one attempt.
  ///
  /// - Parameter attempt: what a delay goes by.
  public static func of(_ result: APNsResult, attempt: DeliveryAttempt) -> DeliveryOutcome {
    switch result {
    case _ where result.saysTokenExpired:
      // Where another token could help, the client has made one and sent the push again.
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
