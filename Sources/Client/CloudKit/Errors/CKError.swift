/// An error of CloudKit.
///
/// ```swift
/// do { … } catch CKError.unknownItem { … }
/// if let error = error as? CKError, let seconds = error.retryAfterSeconds { … }
/// ```
///
/// - Note: on Linux an `NSError` of this domain that was not made from a `CKError` is not taken for
///   one by `as? CKError`.
public struct CKError: _BridgedStoredNSError, Sendable {
  public let _nsError: NSError

  /// Wraps an error of the domain `CKErrorDomain`.
  public init(_nsError error: NSError) {
    precondition(error.domain == CKErrorDomain)
    _nsError = error
  }

  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(
      _nsError: NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo))
  }

  public static var _nsErrorDomain: String { CKErrorDomain }
  public static var errorDomain: String { CKErrorDomain }

  public var localizedDescription: String { _nsError.localizedDescription }
}

extension CKError {
  // Foundation's own two end the program on Linux: hashing an NSError asks it for its hash again.

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
  /// The errors of the single items, by their IDs: `CKRecord.ID`, `CKRecordZone.ID`, or a
  /// subscription's `String`.
  public var partialErrorsByItemID: [AnyHashable: any Error]? {
    userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
  }

  /// The record as the client had it before its changes.
  public var ancestorRecord: CKRecord? {
    userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
  }

  /// The record as the server has it: merge into this one and save it.
  public var serverRecord: CKRecord? {
    userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
  }

  /// The record that the client tried to save.
  public var clientRecord: CKRecord? {
    userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
  }

  /// How long to wait before another attempt; nil when another attempt is pointless.
  public var retryAfterSeconds: Double? {
    (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
  }
}
