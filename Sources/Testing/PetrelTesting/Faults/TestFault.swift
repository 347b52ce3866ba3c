public import CloudKit
internal import WebServices

/// Something that goes wrong with a request to a ``TestCloud``.
///
/// The client gets it as it would get the real thing, so that its own rules say which `CKError` the
/// app sees, and whether the operation tries again by itself.
public struct TestFault: Sendable {
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

  /// There is no network: `networkUnavailable`. The cloud does not get the request.
  public static let networkLoss = TestFault(kind: .networkLoss)
  /// The connection breaks after the cloud has carried out the request: `serverResponseLost`.
  public static let answerLost = TestFault(kind: .answerLost)
  /// The caller makes too many requests: `requestRateLimited`.
  ///
  /// - Parameter retryAfter: what `CKError.retryAfterSeconds` says.
  public static func rateLimited(retryAfter: TimeInterval? = nil) -> TestFault {
    TestFault(kind: .refusal(.throttled, retryAfter: retryAfter))
  }
  /// The server is busy: `serviceUnavailable`.
  ///
  /// - Parameter retryAfter: what `CKError.retryAfterSeconds` says.
  public static func serviceUnavailable(retryAfter: TimeInterval? = nil) -> TestFault {
    TestFault(kind: .refusal(.tryAgainLater, retryAfter: retryAfter))
  }
  /// Another request is at work in the zone: `zoneBusy`.
  ///
  /// - Parameter retryAfter: what `CKError.retryAfterSeconds` says.
  public static func zoneBusy(retryAfter: TimeInterval? = nil) -> TestFault {
    TestFault(kind: .refusal(.zoneBusy, retryAfter: retryAfter))
  }
  /// The user's sign-in has expired: `notAuthenticated`.
  public static let authenticationExpired = TestFault(
    kind: .refusal(.authenticationFailed, retryAfter: nil))
  /// The change token is older than what the server keeps: `changeTokenExpired`. Concerns only
  /// requests that go on from a token; of several zones in one, those that do.
  public static let changeTokenExpired = TestFault(kind: .changeTokenExpired)
  /// The user's storage is full: `quotaExceeded` for each record of a save. Concerns only requests
  /// that save records.
  public static let quotaExceeded = TestFault(kind: .quotaExceeded)
  /// Another device of the user saves the records just before: `serverRecordChanged`. Concerns only
  /// saves that can meet a conflict, that is, those with the policy `ifServerRecordUnchanged`.
  public static let conflict = conflict { _ in }
  /// Another device of the user saves the records just before: `serverRecordChanged` with the three
  /// records.
  ///
  /// The save of the other device is a real one: subscriptions fire, and the first device gets their
  /// pushes. Concerns only saves with the policy `ifServerRecordUnchanged`.
  ///
  /// - Parameter change: what the other device changes in each record.
  public static func conflict(
    changing change: @escaping @Sendable (CKRecord) -> Void
  ) -> TestFault {
    TestFault(kind: .conflict(change))
  }
}

/// What APNs does with a push of a ``TestCloud`` that does not arrive.
public struct TestPushFault: Sendable {
  enum Kind: Sendable {
    case unavailable(retryAfter: Double)
    case unregistered
  }

  let kind: Kind

  /// APNs cannot take the push now (status 503). It is sent again once the cloud's clock has been
  /// advanced by the time that APNs asked for.
  ///
  /// - Parameter retryAfter: seconds, up to a day.
  public static func unavailable(retryAfter: TimeInterval = 60) -> TestPushFault {
    TestPushFault(kind: .unavailable(retryAfter: retryAfter))
  }
  /// The app was deleted from the device (status 410): the cloud forgets the device's token and
  /// sends it no more pushes.
  public static let unregistered = TestPushFault(kind: .unregistered)
}
