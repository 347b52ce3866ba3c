extension CKError {
  /// What went wrong. The raw values are those of Apple's framework.
  public enum Code: Int, _ErrorCodeProtocol, Sendable {
    public typealias _ErrorType = CKError

    /// CloudKit has a fault, or the server's answer was not understood.
    case internalError = 1
    /// Some items failed; completion blocks only.
    case partialFailure = 2
    /// There is no network.
    case networkUnavailable = 3
    /// The network failed on the way.
    case networkFailure = 4
    /// The container is unknown or not for this app.
    case badContainer = 5
    /// The server cannot answer now; try again after the given time.
    case serviceUnavailable = 6
    /// Too many requests; try again after the given time.
    case requestRateLimited = 7
    /// The app is not entitled to the request.
    case missingEntitlement = 8
    /// There is no account, and the request needs one.
    case notAuthenticated = 9
    /// The user may not do this.
    case permissionFailure = 10
    /// The record, zone or subscription does not exist.
    case unknownItem = 11
    /// The request breaks a rule, such as that of predicates.
    case invalidArguments = 12
    /// Results were left out; not sent any more.
    @available(*, deprecated, message: "No server sends it")
    case resultsTruncated = 13
    /// The server's record is newer than the one to be saved.
    case serverRecordChanged = 14
    /// The server refused; another attempt is pointless.
    case serverRejectedRequest = 15
    /// The file of an asset is not there.
    case assetFileNotFound = 16
    /// The file of an asset changed during the save.
    case assetFileModified = 17
    /// The app is too old for the server.
    case incompatibleVersion = 18
    /// The value of a unique field is taken.
    case constraintViolation = 19
    /// The operation was cancelled.
    case operationCancelled = 20
    /// The change token is too old: drop what is cached and start without one.
    case changeTokenExpired = 21
    /// Another item of the atomic batch failed.
    case batchRequestFailed = 22
    /// The zone is busy; try again after a few seconds.
    case zoneBusy = 23
    /// The request does not belong into this database.
    case badDatabase = 24
    /// The user's storage is full.
    case quotaExceeded = 25
    /// The zone does not exist.
    case zoneNotFound = 26
    /// Too many items or too many bytes; split the request.
    case limitExceeded = 27
    /// The user deleted the zone.
    case userDeletedZone = 28
    /// The share has too many participants.
    case tooManyParticipants = 29
    /// The record is in another share.
    case alreadyShared = 30
    /// The target of a parent or share reference does not exist.
    case referenceViolation = 31
    /// The account's manager does not allow it.
    case managedAccountRestricted = 32
    /// The user must first prove to be the participant.
    case participantMayNeedVerification = 33
    /// The answer was lost: whether the request was carried out is not known.
    case serverResponseLost = 34
    /// The asset is not available.
    case assetNotAvailable = 35
    /// The account cannot be used now.
    case accountTemporarilyUnavailable = 36
    /// The participant is invited already.
    case participantAlreadyInvited = 37
  }
}
