/// An error code of CloudKit Web Services (table "Error Codes" in Apple's reference).
///
/// An error in a message has two members for the code. The server writes one of Apple's codes into
/// `serverErrorCode`, because some clients cannot read an answer with other codes. If Petrel has a
/// more precise code, the server also writes that code into `reasonCode`.
///
/// A client keeps a code that this version does not know.
public struct ServerErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The code as it is on the wire, such as `BAD_REQUEST`.
  public let rawValue: String

  /// Creates a code, which may be unknown to this version.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The caller has no permission for the record, zone or database.
  public static let accessDenied = ServerErrorCode(rawValue: "ACCESS_DENIED")
  /// Another item of the atomic batch failed, so this item was not carried out.
  public static let atomicError = ServerErrorCode(rawValue: "ATOMIC_ERROR")
  /// The token or the signature is not valid.
  public static let authenticationFailed = ServerErrorCode(rawValue: "AUTHENTICATION_FAILED")
  /// The operation needs a signed-in user. ``ServiceError/redirectURL`` is the address of the
  /// sign-in page.
  public static let authenticationRequired = ServerErrorCode(rawValue: "AUTHENTICATION_REQUIRED")
  /// The request is malformed, has a value of a wrong type, or breaks a rule.
  public static let badRequest = ServerErrorCode(rawValue: "BAD_REQUEST")
  /// The server no longer has all changes since the change token. The client must fetch all changes
  /// again, without a token. Petrel's addition; Apple's reference has no code for it.
  public static let changeTokenExpired = ServerErrorCode(rawValue: "CHANGE_TOKEN_EXPIRED")
  /// The change tag is not current: the record was changed in the meantime.
  public static let conflict = ServerErrorCode(rawValue: "CONFLICT")
  /// The item to create exists already.
  public static let exists = ServerErrorCode(rawValue: "EXISTS")
  /// The server failed. The server's log has the cause under ``ServiceError/uuid``.
  public static let internalError = ServerErrorCode(rawValue: "INTERNAL_ERROR")
  /// The item does not exist.
  public static let notFound = ServerErrorCode(rawValue: "NOT_FOUND")
  /// The quota of the database or of the caller is exhausted.
  public static let quotaExceeded = ServerErrorCode(rawValue: "QUOTA_EXCEEDED")
  /// The caller sends too many requests. ``ServiceError/retryAfter`` is the time to wait.
  public static let throttled = ServerErrorCode(rawValue: "THROTTLED")
  /// The server is busy. ``ServiceError/retryAfter`` is the time to wait.
  public static let tryAgainLater = ServerErrorCode(rawValue: "TRY_AGAIN_LATER")
  /// The target of a reference with the action `VALIDATE` does not exist.
  public static let validatingReferenceError = ServerErrorCode(
    rawValue: "VALIDATING_REFERENCE_ERROR")
  /// The zone does not exist.
  public static let zoneNotFound = ServerErrorCode(rawValue: "ZONE_NOT_FOUND")
  /// Another record already has this value in a unique field. The code is in the list of CloudKit
  /// JS. Petrel has no unique fields and never sends the code.
  public static let uniqueFieldError = ServerErrorCode(rawValue: "UNIQUE_FIELD_ERROR")

  // Petrel's additions. Apple's native client receives these facts over another protocol.

  /// The record is in the hierarchy of a share already, or its zone is shared.
  public static let alreadyShared = ServerErrorCode(rawValue: "ALREADY_SHARED")
  /// This server does not serve the container, or not for this app.
  public static let badContainer = ServerErrorCode(rawValue: "BAD_CONTAINER")
  /// The request does not belong to this database.
  public static let badDatabase = ServerErrorCode(rawValue: "BAD_DATABASE")
  /// The caller who asks for access to a share is invited already.
  public static let participantAlreadyInvited = ServerErrorCode(
    rawValue: "PARTICIPANT_ALREADY_INVITED")
  /// The share may be for the caller, under an address that the caller's account lacks.
  public static let participantMayNeedVerification = ServerErrorCode(
    rawValue: "PARTICIPANT_MAY_NEED_VERIFICATION")
  /// The share would have more participants than it may; ``ServiceError/limit`` is the limit.
  public static let tooManyParticipants = ServerErrorCode(rawValue: "TOO_MANY_PARTICIPANTS")
  /// The outcome of the request is unknown: the server may or may not have carried it out.
  public static let serverResponseLost = ServerErrorCode(rawValue: "SERVER_RESPONSE_LOST")
  /// The zone of the request was deleted by its user.
  public static let userDeletedZone = ServerErrorCode(rawValue: "USER_DELETED_ZONE")
  /// Another request is changing the zone. Only `TestCloud` sends this code, when a test asks for
  /// the code.
  public static let zoneBusy = ServerErrorCode(rawValue: "ZONE_BUSY")

  /// Apple's codes: those of the reference and of CloudKit JS, in alphabetical order.
  static let documented: [ServerErrorCode] = [
    .accessDenied, .atomicError, .authenticationFailed, .authenticationRequired, .badRequest,
    .conflict, .exists, .internalError, .notFound, .quotaExceeded, .throttled, .tryAgainLater,
    .uniqueFieldError, .validatingReferenceError, .zoneNotFound,
  ]
  /// Petrel's additions, in alphabetical order.
  static let additions: [ServerErrorCode] = [
    .alreadyShared, .badContainer, .badDatabase, .changeTokenExpired, .participantAlreadyInvited,
    .participantMayNeedVerification, .serverResponseLost, .tooManyParticipants, .userDeletedZone,
    .zoneBusy,
  ]

  /// The code that the server writes into `serverErrorCode` for this code. For one of Petrel's
  /// additions, it is the nearest of Apple's codes. Any other code stays the same.
  public var documented: ServerErrorCode {
    switch self {
    case .alreadyShared, .badContainer, .badDatabase, .changeTokenExpired, .tooManyParticipants:
      .badRequest
    case .participantAlreadyInvited: .conflict
    case .participantMayNeedVerification: .notFound
    case .serverResponseLost: .internalError
    case .userDeletedZone: .zoneNotFound
    case .zoneBusy: .tryAgainLater
    default: self
    }
  }

  /// The HTTP status of an answer that fails as a whole with this code. Unknown codes give 500.
  ///
  /// A failed item does not change the status of the answer, which stays 200.
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
