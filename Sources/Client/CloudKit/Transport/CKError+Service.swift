internal import CloudKitModel
internal import JSONCoding
internal import WebServices

/// The conversion of the errors of CloudKit Web Services, and of failed requests, to errors of the
/// framework.
extension CKError {
  /// Makes the error for an error in the server's answer.
  ///
  /// - Parameters:
  ///   - error: The error in the server's answer. Its reason becomes the description of the new
  ///     error, and its server message.
  ///   - savedRecord: The record whose save failed. For a conflict, the new error has this record
  ///     under `ClientRecord`, and the record as it was fetched under `AncestorRecord`.
  init(_ error: ServiceError, savedRecord: CKRecord? = nil) {
    var userInfo: [String: Any] = [Self.serverErrorDescriptionKey: error.reason]
    if let retryAfter = error.retryAfter.flatMap({ Self.waitable($0) }) {
      userInfo[CKErrorRetryAfterKey] = NSNumber(value: retryAfter)
    }
    if let savedRecord, error.code == .conflict || error.code == .exists {
      userInfo[CKRecordChangedErrorClientRecordKey] = savedRecord
      userInfo[CKRecordChangedErrorAncestorRecordKey] = savedRecord.ancestor
      userInfo[CKRecordChangedErrorServerRecordKey] = error.serverRecord.map { CKRecord($0) }
    }
    self.init(Self.code(for: error), error.reason, userInfo: userInfo)
  }

  private static func code(for error: ServiceError) -> Code {
    switch error.code {
    case .accessDenied: .permissionFailure
    case .alreadyShared: .alreadyShared
    case .atomicError: .batchRequestFailed
    case .authenticationFailed, .authenticationRequired: .notAuthenticated
    case .badContainer: .badContainer
    case .badDatabase: .badDatabase
    // The protocol has no code for an exceeded limit. Apple's framework has one, and apps split a
    // request when they get it.
    case .badRequest: error.limit == nil ? .invalidArguments : .limitExceeded
    case .changeTokenExpired: .changeTokenExpired
    case .conflict, .exists: .serverRecordChanged
    case .internalError: .internalError
    case .notFound: .unknownItem
    case .participantAlreadyInvited: .participantAlreadyInvited
    case .participantMayNeedVerification: .participantMayNeedVerification
    case .quotaExceeded: .quotaExceeded
    case .serverResponseLost: .serverResponseLost
    case .throttled: .requestRateLimited
    case .tooManyParticipants: .tooManyParticipants
    case .tryAgainLater: .serviceUnavailable
    case .validatingReferenceError: .referenceViolation
    case .zoneNotFound: .zoneNotFound
    case .uniqueFieldError: .constraintViolation
    case .userDeletedZone: .userDeletedZone
    case .zoneBusy: .zoneBusy
    default: .serverRejectedRequest
    }
  }
}

extension CKError {
  init(_ response: TransportResponse) {
    let retryAfter = response.headers["retry-after"].flatMap { Self.seconds(retryAfter: $0) }
    // An answer that is not JSON may come from a proxy. Its status then decides the code.
    if let json = try? JSONValue(parsing: response.body), var error = ServiceError(body: json) {
      error.retryAfter = error.retryAfter ?? retryAfter
      // Servers other than Petrel's report a body that is too large by the status 413, without a
      // limit.
      if response.status == 413, error.code == .badRequest {
        error.limit = error.limit ?? ServiceLimits.requestBodySize
      }
      self.init(error)
      return
    }
    var userInfo: [String: Any] = [:]
    if let retryAfter { userInfo[CKErrorRetryAfterKey] = NSNumber(value: retryAfter) }
    self.init(
      Self.code(forStatus: response.status),
      "the server answered with HTTP status \(response.status), but without an error of CloudKit "
        + "Web Services; check the server's URL",
      userInfo: userInfo)
  }

  /// Returns the wait of a `Retry-After` header, which has seconds or a date (RFC 9110, section
  /// 10.2.3).
  ///
  /// - Returns: Seconds from now, from 0 to ``longestWait``; nil if the header has neither.
  private static func seconds(retryAfter text: String) -> Double? {
    if let seconds = Double(text) { return seconds.isFinite ? waitable(seconds) : nil }
    return HTTPDate.seconds(text).flatMap { waitable($0 - Timestamp.now.seconds) }
  }

  /// The longest wait, in seconds, that the client accepts from a server: about a year. Clocks
  /// cannot represent every number of seconds, and a program that waits for too many would crash.
  private static let longestWait: Double = 366 * 86_400

  /// Returns the seconds, limited to the range from 0 to ``longestWait``; nil if they are not a
  /// number.
  private static func waitable(_ seconds: Double) -> Double? {
    seconds.isNaN ? nil : min(max(0, seconds), longestWait)
  }

  /// For an answer of a proxy or another server, without an error of CloudKit Web Services.
  private static func code(forStatus status: Int) -> Code {
    switch status {
    case 401, 407, 421: .notAuthenticated
    case 403: .permissionFailure
    case 413: .limitExceeded
    case 429: .requestRateLimited
    case 502, 503, 504: .serviceUnavailable
    case 500...599: .internalError
    default: .serverRejectedRequest
    }
  }

  init(_ failure: TransportFailure) {
    let code: Code =
      switch failure.kind {
      case .offline: .networkUnavailable
      case .unreachable, .timedOut: .networkFailure
      case .answerLost: .serverResponseLost
      case .unreadableFile: .assetFileNotFound
      case .unwritableFile: .internalError
      case .cancelled: .operationCancelled
      }
    self.init(code, failure.reason)
  }

  /// Makes the error for an answer that does not follow the protocol: `internalError`.
  init(unreadableAnswer error: ServiceError) {
    self.init(.internalError, "the server's answer cannot be read: \(error.reason)")
  }
}
