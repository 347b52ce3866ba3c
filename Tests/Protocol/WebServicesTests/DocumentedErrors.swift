import WebServices

extension ServerErrorCode {
  /// Apple's table of error codes that a server sends, with their HTTP statuses, and Petrel's own.
  static let statuses: [(ServerErrorCode, Int)] = [
    (.accessDenied, 403), (.atomicError, 400), (.authenticationFailed, 401),
    (.authenticationRequired, 421), (.badRequest, 400), (.conflict, 409), (.exists, 409),
    (.internalError, 500), (.notFound, 404), (.quotaExceeded, 413), (.throttled, 429),
    (.tryAgainLater, 503), (.validatingReferenceError, 412), (.zoneNotFound, 404),
    (.uniqueFieldError, 409), (.badContainer, 400), (.badDatabase, 400), (.userDeletedZone, 404),
    (.zoneBusy, 503), (.serverResponseLost, 500), (.changeTokenExpired, 400),
    (.alreadyShared, 400), (.tooManyParticipants, 400), (.participantMayNeedVerification, 404),
    (.participantAlreadyInvited, 409),
  ]

  static var all: [ServerErrorCode] { statuses.map { $0.0 } }
}
