public import CloudKit
internal import WebServices

/// A failure of a request to a ``TestCloud``.
///
/// The client gets the same answer as at a real failure. So the client's own rules decide which
/// `CKError` the app gets, and whether the client retries the request.
public struct TestFault: Sendable {
  /// The kind of failure.
  enum Kind: Sendable {
    case networkLoss
    case answerLost
    /// The server refuses the request as a whole.
    case refusal(ServerErrorCode, retryAfter: Double?)
    case quotaExceeded
    case conflict(@Sendable (CKRecord) -> Void)
    case changeTokenExpired
  }

  let kind: Kind

  /// There is no network: the app gets `networkUnavailable`. The cloud does not get the request.
  public static let networkLoss = TestFault(kind: .networkLoss)
  /// The connection breaks after the cloud has carried out the request: the app gets
  /// `serverResponseLost`.
  public static let answerLost = TestFault(kind: .answerLost)
  /// The caller makes too many requests: the app gets `requestRateLimited`.
  ///
  /// - Parameter retryAfter: the seconds in `CKError.retryAfterSeconds`; nil for none.
  public static func rateLimited(retryAfter: TimeInterval? = nil) -> TestFault {
    TestFault(kind: .refusal(.throttled, retryAfter: retryAfter))
  }
  /// The server is busy: the app gets `serviceUnavailable`.
  ///
  /// - Parameter retryAfter: the seconds in `CKError.retryAfterSeconds`; nil for none.
  public static func serviceUnavailable(retryAfter: TimeInterval? = nil) -> TestFault {
    TestFault(kind: .refusal(.tryAgainLater, retryAfter: retryAfter))
  }
  /// Another request is changing the zone: the app gets `zoneBusy`.
  ///
  /// - Parameter retryAfter: the seconds in `CKError.retryAfterSeconds`; nil for none.
  public static func zoneBusy(retryAfter: TimeInterval? = nil) -> TestFault {
    TestFault(kind: .refusal(.zoneBusy, retryAfter: retryAfter))
  }
  /// The user's sign-in has expired: the app gets `notAuthenticated`.
  public static let authenticationExpired = TestFault(
    kind: .refusal(.authenticationFailed, retryAfter: nil))
  /// The change token is older than the changes that the server keeps: the app gets
  /// `changeTokenExpired`. The fault applies only to requests that continue from a token. In a
  /// request for several zones, it applies to the zones with a token.
  public static let changeTokenExpired = TestFault(kind: .changeTokenExpired)
  /// The user's storage is full: the app gets `quotaExceeded` for each record of a save. The fault
  /// applies only to requests that save records.
  public static let quotaExceeded = TestFault(kind: .quotaExceeded)
  /// Another device of the user saves the same records just before this request: the app gets
  /// `serverRecordChanged`. The fault applies only to saves that can fail in this way: those with
  /// the policy `ifServerRecordUnchanged`.
  public static let conflict = conflict { _ in }
  /// Another device of the user saves the same records just before this request. The app gets
  /// `serverRecordChanged` with three records: the ancestor, the server's and the client's.
  ///
  /// The save of the other device is a real one: it fires subscriptions, and the user's registered
  /// devices get the pushes. The fault applies only to saves with the policy
  /// `ifServerRecordUnchanged`.
  ///
  /// - Parameter change: changes each record before the other device saves it.
  public static func conflict(
    changing change: @escaping @Sendable (CKRecord) -> Void
  ) -> TestFault {
    TestFault(kind: .conflict(change))
  }
}

/// A failure with which APNs answers a push of a ``TestCloud``.
public struct TestPushFault: Sendable {
  /// The kind of failure.
  enum Kind: Sendable {
    case unavailable(retryAfter: Double)
    case unregistered
  }

  let kind: Kind

  /// APNs cannot accept the push now (status 503). The cloud sends the push again after its clock
  /// has been advanced by `retryAfter`. If the server's own delay for the retry is longer, the own
  /// delay applies; at first it is at most one second.
  ///
  /// - Parameter retryAfter: the seconds after which APNs asks for the push again. More than a day
  ///   counts as a day.
  public static func unavailable(retryAfter: TimeInterval = 60) -> TestPushFault {
    TestPushFault(kind: .unavailable(retryAfter: retryAfter))
  }
  /// The app was deleted from the device (status 410). The cloud deletes the device's token and
  /// sends it no more pushes.
  public static let unregistered = TestPushFault(kind: .unregistered)
}
