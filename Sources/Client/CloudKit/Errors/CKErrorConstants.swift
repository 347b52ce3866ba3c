// The names and values are those of Apple's framework.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of CloudKit's errors, for `NSError.domain`.
public let CKErrorDomain = "CKErrorDomain"

/// The key of the errors of single items in a `partialFailure`.
///
/// The value is a dictionary `[AnyHashable: any Error]` with the IDs of the items as keys; see
/// ``CKError/partialErrorsByItemID``.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"
/// The key of the `CKRecord` in the state in which the client fetched it, before the client's own
/// changes. Only `serverRecordChanged` has it.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"
/// The key of the `CKRecord` that the server has now. Only `serverRecordChanged` has it.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"
/// The key of the `CKRecord` that the client tried to save. Only `serverRecordChanged` has it.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"
/// The key of the time to wait before another attempt: an `NSNumber` of seconds.
///
/// Errors of a busy server can have this value, such as `serviceUnavailable` and
/// `requestRateLimited`; see ``CKError/retryAfterSeconds``.
public let CKErrorRetryAfterKey = "CKRetryAfter"
/// The key of a Boolean in a `zoneNotFound`: whether the user has reset the encrypted data. Petrel
/// never sets it.
public let CKErrorUserDidResetEncryptedDataKey = "CKUserDidResetEncryptedData"
