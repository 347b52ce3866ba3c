/// The error codes of CloudKit Web Services ("Error Codes" in Apple's reference).
///
/// A code that this version does not know is kept as it came.
public struct ServerErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// No permission for the record, zone or database.
  public static let accessDenied = ServerErrorCode(rawValue: "ACCESS_DENIED")
  /// Another item of the atomic batch failed.
  public static let atomicError = ServerErrorCode(rawValue: "ATOMIC_ERROR")
  /// A bad token or signature.
  public static let authenticationFailed = ServerErrorCode(rawValue: "AUTHENTICATION_FAILED")
  /// The operation needs a user.
  public static let authenticationRequired = ServerErrorCode(rawValue: "AUTHENTICATION_REQUIRED")
  /// Malformed, of a wrong type, or against a rule.
  public static let badRequest = ServerErrorCode(rawValue: "BAD_REQUEST")
  /// The change token is older than what is kept: start again without one. Petrel's addition;
  /// Apple's reference has no code for it.
  public static let changeTokenExpired = ServerErrorCode(rawValue: "CHANGE_TOKEN_EXPIRED")
  /// The change tag is not current.
  public static let conflict = ServerErrorCode(rawValue: "CONFLICT")
  /// A create of something that exists.
  public static let exists = ServerErrorCode(rawValue: "EXISTS")
  public static let internalError = ServerErrorCode(rawValue: "INTERNAL_ERROR")
  public static let notFound = ServerErrorCode(rawValue: "NOT_FOUND")
  public static let quotaExceeded = ServerErrorCode(rawValue: "QUOTA_EXCEEDED")
  /// Too many requests of one caller.
  public static let throttled = ServerErrorCode(rawValue: "THROTTLED")
  /// The server is busy.
  public static let tryAgainLater = ServerErrorCode(rawValue: "TRY_AGAIN_LATER")
  /// The target of a validated reference does not exist.
  public static let validatingReferenceError = ServerErrorCode(
    rawValue: "VALIDATING_REFERENCE_ERROR")
  public static let zoneNotFound = ServerErrorCode(rawValue: "ZONE_NOT_FOUND")
  /// The value of a unique field is taken.
  public static let uniqueFieldError = ServerErrorCode(rawValue: "UNIQUE_FIELD_ERROR")

  // Petrel's additions: what Apple's native client is told over its own protocol.

  /// The container is not served here, or not for this app.
  public static let badContainer = ServerErrorCode(rawValue: "BAD_CONTAINER")
  /// The request does not belong into this database.
  public static let badDatabase = ServerErrorCode(rawValue: "BAD_DATABASE")
  /// What is asked for is part of the protocol, and this server does not have it.
  public static let notSupported = ServerErrorCode(rawValue: "NOT_SUPPORTED")
  /// It is not known whether the request was carried out.
  public static let serverResponseLost = ServerErrorCode(rawValue: "SERVER_RESPONSE_LOST")
  /// The user deleted the zone that is asked for.
  public static let userDeletedZone = ServerErrorCode(rawValue: "USER_DELETED_ZONE")
  /// Another request is at work in the zone.
  public static let zoneBusy = ServerErrorCode(rawValue: "ZONE_BUSY")

  /// The codes of Apple's table, in order.
  static let documented: [ServerErrorCode] = [
    .accessDenied, .atomicError, .authenticationFailed, .authenticationRequired, .badRequest,
    .conflict, .exists, .internalError, .notFound, .quotaExceeded, .throttled, .tryAgainLater,
    .uniqueFieldError, .validatingReferenceError, .zoneNotFound,
  ]
  /// Petrel's additions, in order.
  static let additions: [ServerErrorCode] = [
    .badContainer, .badDatabase, .changeTokenExpired, .notSupported, .serverResponseLost,
    .userDeletedZone, .zoneBusy,
  ]

  /// The code of Apple's table that stands in `serverErrorCode` for this one: the code itself, or
  /// for one of Petrel's additions the nearest. Clients know Apple's codes only, and some cannot
  /// read an answer with another.
  public var documented: ServerErrorCode {
    switch self {
    case .badContainer, .badDatabase, .changeTokenExpired, .notSupported: .badRequest
    case .serverResponseLost: .internalError
    case .userDeletedZone: .zoneNotFound
    case .zoneBusy: .tryAgainLater
    default: self
    }
  }

  /// The HTTP status of an answer that fails as a whole with this code.
  public var httpStatus: Int {
    switch documented {
    case .accessDenied: 403
    case .atomicError, .badRequest: 400
    case .authenticationFailed: 401
    case .authenticationRequired: 421
    case .conflict, .exists, .uniqueFieldError: 409
    case .notFound, .zoneNotFound: 404
    case .quotaExceeded: 413
    case .throttled: 429
    case .tryAgainLater: 503
    case .validatingReferenceError: 412
    default: 500
    }
  }

  public var description: String { rawValue }
}
