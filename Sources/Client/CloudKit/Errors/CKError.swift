/// An error of CloudKit. It wraps an `NSError` of the domain `CKErrorDomain`.
///
/// ```swift
/// do { … } catch CKError.unknownItem { … }
/// if let error = error as? CKError, let seconds = error.retryAfterSeconds { … }
/// ```
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
  /// - Parameter userInfo: values by keys such as `CKErrorRetryAfterKey` and
  ///   `NSLocalizedDescriptionKey`.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(
      _nsError: NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo))
  }

  /// The domain of all errors of this type, `CKErrorDomain`. Foundation uses this property for
  /// bridging.
  public static var _nsErrorDomain: String { CKErrorDomain }
  /// The domain of all errors of this type, `CKErrorDomain`.
  public static var errorDomain: String { CKErrorDomain }
}

extension CKError {
  // Foundation's own versions of these two members never return on Linux and crash the program.
  // They hash the `NSError`, which asks this error for its hash again.

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
  /// The errors of single items in a `partialFailure`. The keys are the IDs of the items. `nil` in
  /// other errors.
  ///
  /// The type of the IDs depends on the operation: `CKRecord.ID`, `CKRecordZone.ID`,
  /// `CKNotification.ID`, or `String` for subscriptions. Operations on shares use `URL`,
  /// `CKShare.Metadata` and `CKUserIdentity.LookupInfo`.
  public var partialErrorsByItemID: [AnyHashable: any Error]? {
    userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
  }

  /// The record in the state in which the client fetched it, before the client's own changes.
  ///
  /// Only `serverRecordChanged` has this record, and only if the client had fetched the record. In
  /// all other cases the value is `nil`.
  public var ancestorRecord: CKRecord? {
    userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
  }

  /// The record that the server has now; `nil` unless the code is `serverRecordChanged`.
  ///
  /// To resolve the conflict, copy your changes to this record and save it. Only this record has
  /// the newest change tag, with which the server accepts the save.
  public var serverRecord: CKRecord? {
    userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
  }

  /// The record that the client tried to save; `nil` unless the code is `serverRecordChanged`.
  ///
  /// This record still has the old change tag. If you save it again with the policy
  /// `ifServerRecordUnchanged`, the save fails again.
  public var clientRecord: CKRecord? {
    userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
  }

  /// The seconds to wait before another attempt; `nil` when the error names no time.
  ///
  /// If the server asks for more than 366 days, the value is 366 days.
  public var retryAfterSeconds: Double? {
    (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
  }
}
