internal import CloudKitModel
internal import JSONCoding
internal import WebServices

/// What the errors of CloudKit Web Services are in the framework: the one place that says so.
extension CKError {
  /// - Parameters:
  ///   - savedRecord: the record whose save failed, for a conflict's `ClientRecord` and
  ///     `AncestorRecord`.
  init(_ error: ServiceError, savedRecord: CKRecord? = nil) {
    var userInfo: [String: Any] = [:]
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
    case .atomicError: .batchRequestFailed
    case .authenticationFailed, .authenticationRequired: .notAuthenticated
    case .badContainer: .badContainer
    case .badDatabase: .badDatabase
    // The wire has no code for a passed limit; the native framework does, and its clients split the
    // request when they get it.
    case .badRequest: error.limit == nil ? .invalidArguments : .limitExceeded
    case .changeTokenExpired: .changeTokenExpired
    case .conflict, .exists: .serverRecordChanged
    case .internalError: .internalError
    case .notFound: .unknownItem
    case .quotaExceeded: .quotaExceeded
    case .serverResponseLost: .serverResponseLost
    case .throttled: .requestRateLimited
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
  /// The error of an answer whose status is not 2xx.
  init(_ response: TransportResponse) {
    let retryAfter = response.headers["retry-after"].flatMap { Self.seconds(retryAfter: $0) }
    // An answer that is no JSON, as a proxy gives, is judged by its status.
    if let json = try? JSONValue(parsing: response.body), var error = ServiceError(body: json) {
      error.retryAfter = error.retryAfter ?? retryAfter
      // Other servers tell by the status alone that a body is too large.
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
      "the server answered with HTTP status \(response.status) and no error of CloudKit Web "
        + "Services; is the server's URL right?",
      userInfo: userInfo)
  }

  /// What a `Retry-After` says: seconds, or the date until which to wait (RFC 9110, 10.2.3).
  private static func seconds(retryAfter text: String) -> Double? {
    if let seconds = Double(text) { return seconds.isFinite ? waitable(seconds) : nil }
    return HTTPDate.seconds(text).flatMap { waitable($0 - Timestamp.now.seconds) }
  }

  /// Whoever asks for more than a year is not believed: clocks have an end, and programs that wait by
  /// them stop there.
  private static let longestWait: Double = 366 * 86_400

  private static func waitable(_ seconds: Double) -> Double? {
    seconds.isNaN ? nil : min(max(0, seconds), longestWait)
  }

  /// For answers that do not come from the service itself but from something on the way to it.
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

  /// The error for an answer that is not what the protocol says.
  init(unreadableAnswer error: ServiceError) {
    self.init(.internalError, "the server's answer cannot be read: \(error.reason)")
  }
}
