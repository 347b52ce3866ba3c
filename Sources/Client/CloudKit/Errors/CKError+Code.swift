extension CKError {
  /// The kind of a CloudKit error. The raw values are those of Apple's framework.
  ///
  /// The comment of a code says what an app can do: correct the request, wait and try again, or
  /// fetch the data again.
  public enum Code: Int, _ErrorCodeProtocol, Sendable {
    /// The error type of these codes. Foundation uses it so that `catch CKError.unknownItem`
    /// compiles.
    public typealias _ErrorType = CKError

    /// CloudKit has a fault, or the client cannot read the server's answer.
    ///
    /// The client also reports this code when it cannot write a file or folder.
    case internalError = 1
    /// Some items of an operation failed, and others may have succeeded.
    ///
    /// Only deprecated operations, deprecated completion blocks and convenience methods with
    /// `atomically` report this code. ``CKError/partialErrorsByItemID`` has the error of each item.
    case partialFailure = 2
    /// The device has no network, or cannot find the server's host name. The client did not send
    /// the request.
    case networkUnavailable = 3
    /// The client cannot connect to the server, or an attempt or the operation reached its timeout.
    case networkFailure = 4
    /// The container does not exist, or the configuration of the client is wrong.
    ///
    /// See ``PetrelConfiguration`` for the configuration.
    case badContainer = 5
    /// The server cannot answer now. Try again after ``CKError/retryAfterSeconds``.
    ///
    /// The client also reports this code for a long-lived operation that is running already.
    case serviceUnavailable = 6
    /// The client sent too many requests. Try again after ``CKError/retryAfterSeconds``.
    case requestRateLimited = 7
    /// The app lacks the entitlement that the request needs. Petrel never reports it.
    case missingEntitlement = 8
    /// The request needs a user. No user is signed in, or the server refuses the credentials.
    case notAuthenticated = 9
    /// The user is not permitted to read or write the item.
    case permissionFailure = 10
    /// The record, subscription, notification or other item does not exist.
    case unknownItem = 11
    /// The request breaks a rule, such as those for predicates, names or field types.
    case invalidArguments = 12
    /// The server left out some results. No server sends this code any more.
    @available(*, deprecated, message: "No server sends it")
    case resultsTruncated = 13
    /// The record on the server is newer than the record to save. Or the client saves a new record,
    /// and the server already has a record with this ID.
    ///
    /// The error has up to three records; see ``CKError/serverRecord``, ``CKError/clientRecord``
    /// and ``CKError/ancestorRecord``.
    case serverRecordChanged = 14
    /// The server refused the request, and another attempt would fail too.
    case serverRejectedRequest = 15
    /// The file of an asset to save does not exist or cannot be read.
    case assetFileNotFound = 16
    /// The file of an asset changed while the operation was saving it.
    case assetFileModified = 17
    /// The app is too old for the server. Petrel never reports it.
    case incompatibleVersion = 18
    /// Another record has the same value in a field that must be unique. Petrel's server does not
    /// send this code.
    case constraintViolation = 19
    /// The operation was cancelled.
    ///
    /// Cancelling the task of an `async` method has the same effect.
    case operationCancelled = 20
    /// The change token is too old. Delete the cached data, and fetch all data with the token
    /// `nil`.
    case changeTokenExpired = 21
    /// Another item of the same atomic batch failed, so this item was not changed.
    case batchRequestFailed = 22
    /// The server is too busy to change the zone. Try again after a few seconds. Petrel's server
    /// does not send this code.
    case zoneBusy = 23
    /// The operation is not possible in this database, such as reading a change feed of the public
    /// database.
    case badDatabase = 24
    /// The change would exceed a storage quota or another limit of the database.
    case quotaExceeded = 25
    /// The zone does not exist. Save the zone before the records in it.
    case zoneNotFound = 26
    /// The request has too many items or too many bytes. Split the request in two.
    ///
    /// A request may have 400 items. Its records may have 2 MB of fields together, without assets.
    case limitExceeded = 27
    /// The zone existed and was deleted. Delete the cached data of the zone.
    case userDeletedZone = 28
    /// The share has too many participants. Petrel never reports it.
    case tooManyParticipants = 29
    /// The record belongs to another share already. Petrel never reports it.
    case alreadyShared = 30
    /// The target of a `parent` or `share` reference does not exist.
    case referenceViolation = 31
    /// The organisation that manages the account forbids the request. Petrel never reports it.
    case managedAccountRestricted = 32
    /// The user must verify the identity that was invited to the share. Petrel never reports it.
    case participantMayNeedVerification = 33
    /// The client does not know whether the server carried out the request. The answer was lost, or
    /// the server lost the connection to its store.
    case serverResponseLost = 34
    /// The server no longer has the file of an asset, or refuses to send it.
    case assetNotAvailable = 35
    /// The account exists but cannot be used now. Petrel never reports it.
    case accountTemporarilyUnavailable = 36
    /// The participant is already invited to the share. Petrel never reports it.
    case participantAlreadyInvited = 37
  }
}
