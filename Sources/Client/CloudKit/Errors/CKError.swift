/// An error of CloudKit: a wrapper of an `NSError` of the domain `CKErrorDomain`.
///
/// ```swift
/// do { … } catch CKError.unknownItem { … }
/// if let error = error as? CKError, let seconds = error.retryAfterSeconds { … }
/// ```
///
/// - Note: On Linux, `as? CKError` succeeds only for errors that were created as a `CKError`. The
///   cast fails for an `NSError` that other code created with this domain.
public struct CKError: _BridgedStoredNSError, Sendable {
  /// The wrapped error, with the code and the `userInfo`.
  public let _nsError: NSError

  /// Wraps an error. The program stops when its domain is not `CKErrorDomain`.
  public init(_nsError error: NSError) {
    precondition(error.domain == CKErrorDomain)
    _nsError = error
  }

  /// Creates an error. Apps use this initializer in tests.
  ///
  /// - Parameters:
  ///   - code: the kind of the error.
  ///   - userInfo: values by keys such as `CKErrorRetryAfterKey` and `NSLocalizedDescriptionKey`.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(
      _nsError: NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo))
  }

  /// The domain of all errors of this type, `CKErrorDomain`. Foundation uses it for bridging.
  public static var _nsErrorDomain: String { CKErrorDomain }
  /// The domain of all errors of this type, `CKErrorDomain`.
  public static var errorDomain: String { CKErrorDomain }

  /// The description for people: it names the broken rule, the refused value or the reason that the
  /// server gave.
  public var localizedDescription: String { _nsError.localizedDescription }
}

extension CKError {
  // Foundation's own versions of these two members crash on Linux. They hash the `NSError`, which
  // asks this error for its hash again, without end.

  public func hash(into hasher: inout Hasher) {
    hasher.combine(_nsError.domain)
    hasher.combine(_nsError.code)
  }

  public var hashValue: Int {
    var hasher = Hasher()
    hash(into: &hasher)
    return hasher.finalize()
  }
}

extension CKError {
  /// The errors of single items by their IDs, in a `partialFailure`; `nil` in other errors.
  ///
  /// The type of the IDs depends on the operation: `CKRecord.ID`, `CKRecordZone.ID`,
  /// `CKNotification.ID`, or `String` for subscriptions. Operations on shares use `URL`,
  /// `CKShare.Metadata` and `CKUserIdentity.LookupInfo`.
  public var partialErrorsByItemID: [AnyHashable: any Error]? {
    userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
  }

  /// The record as the client had fetched it, before its own changes.
  ///
  /// The value is `nil` unless the code is `serverRecordChanged`, and for a record that was never
  /// fetched.
  public var ancestorRecord: CKRecord? {
    userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
  }

  /// The record that the server has now; `nil` unless the code is `serverRecordChanged`.
  ///
  /// To resolve the conflict, copy your changes to this record and save it. Only this record has
  /// the server's change tag.
  public var serverRecord: CKRecord? {
    userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
  }

  /// The record that the client tried to save; `nil` unless the code is `serverRecordChanged`.
  ///
  /// This record still has the old change tag, so saving it again fails again.
  public var clientRecord: CKRecord? {
    userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
  }

  /// The seconds to wait before another attempt; `nil` when the error names no time.
  ///
  /// The client shortens longer times from the server to 366 days.
  public var retryAfterSeconds: Double? {
    (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
  }
}
