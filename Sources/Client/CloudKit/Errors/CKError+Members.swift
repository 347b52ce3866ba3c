/// The codes as static members of the error type, so that `catch CKError.unknownItem` compiles.
extension CKError {
  /// The code `internalError`: CloudKit has a fault, or the client cannot read the server's
  /// answer.
  public static var internalError: Code { .internalError }
  /// The code `partialFailure`: some items of an operation failed, and others may have
  /// succeeded.
  public static var partialFailure: Code { .partialFailure }
  /// The code `networkUnavailable`: the device has no network, or cannot find the server's
  /// host name.
  public static var networkUnavailable: Code { .networkUnavailable }
  /// The code `networkFailure`: the client cannot connect to the server, or an attempt or
  /// the operation reached its timeout.
  public static var networkFailure: Code { .networkFailure }
  /// The code `badContainer`: the container does not exist, or the configuration of the
  /// client is wrong.
  public static var badContainer: Code { .badContainer }
  /// The code `serviceUnavailable`: the server cannot answer now.
  public static var serviceUnavailable: Code { .serviceUnavailable }
  /// The code `requestRateLimited`: the client sent too many requests.
  public static var requestRateLimited: Code { .requestRateLimited }
  /// The code `missingEntitlement`: the app lacks the entitlement that the request needs.
  public static var missingEntitlement: Code { .missingEntitlement }
  /// The code `notAuthenticated`: no user is signed in, or the server refuses the
  /// credentials.
  public static var notAuthenticated: Code { .notAuthenticated }
  /// The code `permissionFailure`: the user is not permitted to read or write the item.
  public static var permissionFailure: Code { .permissionFailure }
  /// The code `unknownItem`: the record, subscription, notification or other item does not
  /// exist.
  public static var unknownItem: Code { .unknownItem }
  /// The code `invalidArguments`: the request breaks a rule, such as those for predicates,
  /// names or field types.
  public static var invalidArguments: Code { .invalidArguments }
  /// The code `resultsTruncated`: the server left out some results.
  @available(*, deprecated, message: "No server sends it")
  public static var resultsTruncated: Code { .resultsTruncated }
  /// The code `serverRecordChanged`: the record on the server is newer than the record to
  /// save, or already exists when the client saves a new one.
  public static var serverRecordChanged: Code { .serverRecordChanged }
  /// The code `serverRejectedRequest`: the server refused the request, and another attempt
  /// would fail too.
  public static var serverRejectedRequest: Code { .serverRejectedRequest }
  /// The code `assetFileNotFound`: the file of an asset to save does not exist or cannot be
  /// read.
  public static var assetFileNotFound: Code { .assetFileNotFound }
  /// The code `assetFileModified`: the file of an asset changed while the operation was
  /// saving it.
  public static var assetFileModified: Code { .assetFileModified }
  /// The code `incompatibleVersion`: the app is too old for the server.
  public static var incompatibleVersion: Code { .incompatibleVersion }
  /// The code `constraintViolation`: another record has the same value in a field that must
  /// be unique.
  public static var constraintViolation: Code { .constraintViolation }
  /// The code `operationCancelled`: the operation was cancelled.
  public static var operationCancelled: Code { .operationCancelled }
  /// The code `changeTokenExpired`: the change token is too old.
  public static var changeTokenExpired: Code { .changeTokenExpired }
  /// The code `batchRequestFailed`: another item of the same atomic batch failed, so this
  /// item was not changed.
  public static var batchRequestFailed: Code { .batchRequestFailed }
  /// The code `zoneBusy`: the server is too busy to change the zone.
  public static var zoneBusy: Code { .zoneBusy }
  /// The code `badDatabase`: the operation is not possible in this database, such as reading
  /// a change feed of the public database.
  public static var badDatabase: Code { .badDatabase }
  /// The code `quotaExceeded`: the change would exceed a storage quota or another limit of
  /// the database.
  public static var quotaExceeded: Code { .quotaExceeded }
  /// The code `zoneNotFound`: the zone does not exist.
  public static var zoneNotFound: Code { .zoneNotFound }
  /// The code `limitExceeded`: the request has too many items or too many bytes.
  public static var limitExceeded: Code { .limitExceeded }
  /// The code `userDeletedZone`: the zone was deleted outside of the app.
  public static var userDeletedZone: Code { .userDeletedZone }
  /// The code `tooManyParticipants`: the share has too many participants.
  public static var tooManyParticipants: Code { .tooManyParticipants }
  /// The code `alreadyShared`: the record belongs to another share already.
  public static var alreadyShared: Code { .alreadyShared }
  /// The code `referenceViolation`: the target of a `parent` or `share` reference does not
  /// exist.
  public static var referenceViolation: Code { .referenceViolation }
  /// The code `managedAccountRestricted`: the organisation that manages the account forbids
  /// the request.
  public static var managedAccountRestricted: Code { .managedAccountRestricted }
  /// The code `participantMayNeedVerification`: the share's link is for a user with another
  /// address.
  public static var participantMayNeedVerification: Code { .participantMayNeedVerification }
  /// The code `serverResponseLost`: the client does not know whether the server carried out
  /// the request.
  public static var serverResponseLost: Code { .serverResponseLost }
  /// The code `assetNotAvailable`: the server no longer has the file of an asset, or refuses
  /// to send it.
  public static var assetNotAvailable: Code { .assetNotAvailable }
  /// The code `accountTemporarilyUnavailable`: the account exists but cannot be used now.
  public static var accountTemporarilyUnavailable: Code { .accountTemporarilyUnavailable }
  /// The code `participantAlreadyInvited`: the user who requests access is already invited to
  /// the share.
  public static var participantAlreadyInvited: Code { .participantAlreadyInvited }
}
