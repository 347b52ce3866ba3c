// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of CloudKit's errors.
public let CKErrorDomain = "CKErrorDomain"

/// The key of the errors of the single items of a `partialFailure`, by item ID.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"
/// The key of the record as the client had it before its changes, with `serverRecordChanged`.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"
/// The key of the record as the server has it, with `serverRecordChanged`.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"
/// The key of the record that the client tried to save, with `serverRecordChanged`.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"
/// The key of the seconds to wait before another attempt.
public let CKErrorRetryAfterKey = "CKRetryAfter"
/// The key of the mark that the user reset their encrypted data, with `zoneNotFound`.
public let CKErrorUserDidResetEncryptedDataKey = "CKUserDidResetEncryptedData"
