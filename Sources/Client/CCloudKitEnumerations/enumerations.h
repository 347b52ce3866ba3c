#pragma once

// The enumerations that Apple declares in C. Swift imports an open enumeration of C so that every number is a value of
// it: `CKError.Code(rawValue: 999)` is not nil, as with Apple's framework. No enumeration of Swift can be open in a
// package. A `switch` over one needs `@unknown default`; without it, Swift 5 warns and Swift 6 refuses.
//
// The names in C begin with "Petrel", because an app on Apple's systems may import Apple's declarations too, and C has
// one space of names for both.

#define OPEN(name) __attribute__((enum_extensibility(open), swift_name(name)))

/// The kind of a CloudKit error. The raw values are those of Apple's framework.
///
/// The comment of a code says what an app can do: correct the request, wait and try again, or
/// fetch the data again.
enum OPEN("CKErrorCode") PetrelErrorCode : long {
  /// CloudKit has a fault, or the client cannot read the server's answer.
  ///
  /// The client also reports this code when it cannot write a file or folder.
  PetrelErrorCodeInternalError = 1,
  /// Some items of an operation failed, and others may have succeeded.
  ///
  /// Only deprecated operations, deprecated completion blocks and convenience methods with
  /// `atomically` report this code. ``CKError/partialErrorsByItemID`` has the error of each item.
  PetrelErrorCodePartialFailure = 2,
  /// The device has no network, or cannot find the server's host name. The client did not send
  /// the request.
  PetrelErrorCodeNetworkUnavailable = 3,
  /// The client cannot connect to the server, or an attempt or the operation reached its timeout.
  PetrelErrorCodeNetworkFailure = 4,
  /// The container does not exist, or the configuration of the client is wrong.
  ///
  /// See ``PetrelConfiguration`` for the configuration.
  PetrelErrorCodeBadContainer = 5,
  /// The server cannot answer now. Try again after ``CKError/retryAfterSeconds``.
  ///
  /// The client also reports this code for a long-lived operation that is running already.
  PetrelErrorCodeServiceUnavailable = 6,
  /// The client sent too many requests. Try again after ``CKError/retryAfterSeconds``.
  PetrelErrorCodeRequestRateLimited = 7,
  /// The app lacks the entitlement that the request needs. Petrel never reports it.
  PetrelErrorCodeMissingEntitlement = 8,
  /// The request needs a user. No user is signed in, or the server refuses the credentials.
  PetrelErrorCodeNotAuthenticated = 9,
  /// The user is not permitted to read or write the item.
  PetrelErrorCodePermissionFailure = 10,
  /// The record, subscription, notification or other item does not exist.
  PetrelErrorCodeUnknownItem = 11,
  /// The request breaks a rule, such as those for predicates, names or field types.
  PetrelErrorCodeInvalidArguments = 12,
  /// The server left out some results. No server sends this code any more.
  PetrelErrorCodeResultsTruncated __attribute__((deprecated("No server sends it"))) = 13,
  /// The record on the server is newer than the record to save. Or the client saves a new record,
  /// and the server already has a record with this ID.
  ///
  /// The error has up to three records; see ``CKError/serverRecord``, ``CKError/clientRecord``
  /// and ``CKError/ancestorRecord``.
  PetrelErrorCodeServerRecordChanged = 14,
  /// The server refused the request, and another attempt would fail too.
  PetrelErrorCodeServerRejectedRequest = 15,
  /// The file of an asset to save does not exist or cannot be read.
  PetrelErrorCodeAssetFileNotFound = 16,
  /// The file of an asset changed while the operation was saving it.
  PetrelErrorCodeAssetFileModified = 17,
  /// The app is too old for the server. Petrel never reports it.
  PetrelErrorCodeIncompatibleVersion = 18,
  /// Another record has the same value in a field that must be unique. Petrel's server does not
  /// send this code.
  PetrelErrorCodeConstraintViolation = 19,
  /// The operation was cancelled.
  ///
  /// Cancelling the task of an `async` method has the same effect.
  PetrelErrorCodeOperationCancelled = 20,
  /// The change token is too old. Delete the cached data, and fetch all data with the token
  /// `nil`.
  PetrelErrorCodeChangeTokenExpired = 21,
  /// Another item of the same atomic batch failed, so this item was not changed.
  PetrelErrorCodeBatchRequestFailed = 22,
  /// The server is too busy to change the zone. Try again after a few seconds. Petrel's server
  /// does not send this code.
  PetrelErrorCodeZoneBusy = 23,
  /// The operation is not possible in this database, such as reading a change feed of the public
  /// database.
  PetrelErrorCodeBadDatabase = 24,
  /// The change would exceed a storage quota or another limit of the database.
  PetrelErrorCodeQuotaExceeded = 25,
  /// The zone does not exist. Save the zone before the records in it.
  PetrelErrorCodeZoneNotFound = 26,
  /// The request has too many items or too many bytes. Split the request in two.
  ///
  /// A request may have 400 items. Its records may have 2 MB of fields together, without assets.
  PetrelErrorCodeLimitExceeded = 27,
  /// The zone existed and was deleted. Delete the cached data of the zone.
  PetrelErrorCodeUserDeletedZone = 28,
  /// The share has too many participants.
  PetrelErrorCodeTooManyParticipants = 29,
  /// The record, or a record above or below it, belongs to another share already.
  PetrelErrorCodeAlreadyShared = 30,
  /// The target of a `parent` or `share` reference does not exist.
  PetrelErrorCodeReferenceViolation = 31,
  /// The organisation that manages the account forbids the request. Petrel never reports it.
  PetrelErrorCodeManagedAccountRestricted = 32,
  /// The share's link is for a user with another address. Add the address to the account and accept again.
  PetrelErrorCodeParticipantMayNeedVerification = 33,
  /// The client does not know whether the server carried out the request. The answer was lost, or
  /// the server lost the connection to its store.
  PetrelErrorCodeServerResponseLost = 34,
  /// The server no longer has the file of an asset, or refuses to send it.
  PetrelErrorCodeAssetNotAvailable = 35,
  /// The account exists but cannot be used now. Petrel never reports it.
  PetrelErrorCodeAccountTemporarilyUnavailable = 36,
  /// The user who requests access is already invited to the share. Accept the share.
  PetrelErrorCodeParticipantAlreadyInvited = 37,
};

/// The state of the user's account, as `CKContainer.accountStatus()` returns it.
enum OPEN("CKAccountStatus") PetrelAccountStatus : long {
  /// The request to the server failed. The error of the call gives the reason.
  PetrelAccountStatusCouldNotDetermine = 0,
  /// The server knows the user and accepts the credentials.
  PetrelAccountStatusAvailable = 1,
  /// The settings of the system forbid the account. Petrel never reports this status.
  PetrelAccountStatusRestricted = 2,
  /// The requests name no user, or a user whom the server does not accept.
  PetrelAccountStatusNoAccount = 3,
  /// The account exists, but its user must sign in again. Petrel never reports this status.
  PetrelAccountStatusTemporarilyUnavailable = 4,
};

/// The user's decision about a permission of the app.
enum OPEN("CKApplicationPermissionStatus") PetrelApplicationPermissionStatus : long {
  /// The user has not decided yet.
  PetrelApplicationPermissionStatusInitialState = 0,
  /// The request to the server failed. The error of the call gives the reason.
  PetrelApplicationPermissionStatusCouldNotComplete = 1,
  /// The user has denied the permission.
  PetrelApplicationPermissionStatusDenied = 2,
  /// The user has granted the permission.
  PetrelApplicationPermissionStatusGranted = 3,
};

/// The kind of a container's database: public, private or shared. Apps write `CKDatabase.Scope`.
///
/// The raw values are those of Apple's framework. Push payloads number the databases differently: private 1, public 2,
/// shared 3.
enum OPEN("CKDatabaseScope") PetrelDatabaseScope : long {
  /// The database whose records everyone who uses the app can read, unless the schema's roles restrict a record type.
  /// By default, writing needs a signed-in user.
  PetrelDatabaseScopePublic = 1,
  /// The database that only its user can read and write.
  PetrelDatabaseScopePrivate = 2,
  /// The database with the zones and records that other users share with this user.
  PetrelDatabaseScopeShared = 3,
};

/// The kinds of subscription. The raw values are those of Apple's framework.
enum OPEN("CKSubscriptionType") PetrelSubscriptionType : long {
  /// A ``CKQuerySubscription``.
  PetrelSubscriptionTypeQuery = 1,
  /// A ``CKRecordZoneSubscription``.
  PetrelSubscriptionTypeRecordZone = 2,
  /// A ``CKDatabaseSubscription``.
  PetrelSubscriptionTypeDatabase = 3,
};

/// The kind of a notification. Each kind has its own class.
enum OPEN("CKNotificationType") PetrelNotificationType : long {
  /// A query subscription fired: ``CKQueryNotification``.
  PetrelNotificationTypeQuery = 1,
  /// A record-zone subscription fired: ``CKRecordZoneNotification``.
  PetrelNotificationTypeRecordZone = 2,
  /// A device marked the notification as read. The object is a ``CKNotification`` with only the
  /// ID and the container. Only the notification log has this kind.
  PetrelNotificationTypeReadNotification = 3,
  /// A database subscription fired: ``CKDatabaseNotification``.
  PetrelNotificationTypeDatabase = 4,
};

/// The event on which the subscription fired.
enum OPEN("CKQueryNotificationReason") PetrelQueryNotificationReason : long {
  /// The record was created and matches the predicate.
  PetrelQueryNotificationReasonRecordCreated = 1,
  /// The record was changed, and its new values match the predicate.
  PetrelQueryNotificationReasonRecordUpdated = 2,
  /// The record was deleted, and its last values matched the predicate.
  PetrelQueryNotificationReasonRecordDeleted = 3,
};

/// The rule that says what happens to a record with a reference when the target of the reference
/// is deleted.
enum OPEN("CKReferenceAction") PetrelReferenceAction : unsigned long {
  /// The record with the reference stays. The reference then names a record that does not exist.
  PetrelReferenceActionNone = 0,
  /// The server deletes the record with the reference as well.
  PetrelReferenceActionDeleteSelf = 1,
};

/// The choice between one encryption key for each record and one key for the whole zone.
enum OPEN("CKRecordZoneEncryptionScope") PetrelRecordZoneEncryptionScope : long {
  /// Each record has its own key.
  PetrelRecordZoneEncryptionScopePerRecord = 0,
  /// All records of the zone have the same key.
  PetrelRecordZoneEncryptionScopePerZone = 1,
};

/// The choice what a save does if the server's record differs from the local one.
enum OPEN("CKRecordSavePolicy") PetrelRecordSavePolicy : long {
  /// Saves the changed fields if the server's record has the same change tag. Otherwise the
  /// record fails with `serverRecordChanged`. A record without a change tag, which was never
  /// fetched or saved, fails if the server has a record with its ID.
  PetrelRecordSavePolicyIfServerRecordUnchanged = 0,
  /// Saves the changed fields without a comparison of change tags. Other fields of the server's
  /// record stay.
  PetrelRecordSavePolicyChangedKeys = 1,
  /// Saves all fields of the local record without a comparison of change tags, and deletes the
  /// fields that the program removed. Other fields that only the server's record has stay.
  PetrelRecordSavePolicyAllKeys = 2,
};

/// The amount of data that the operations of a group are expected to transfer.
enum OPEN("CKOperationGroupTransferSize") PetrelOperationGroupTransferSize : long {
  /// The program makes no estimate.
  PetrelOperationGroupTransferSizeUnknown = 0,
  /// Some kilobytes.
  PetrelOperationGroupTransferSizeKilobytes = 1,
  /// Some megabytes.
  PetrelOperationGroupTransferSizeMegabytes = 2,
  /// Some tens of megabytes.
  PetrelOperationGroupTransferSizeTensOfMegabytes = 3,
  /// Some hundreds of megabytes.
  PetrelOperationGroupTransferSizeHundredsOfMegabytes = 4,
  /// Some gigabytes.
  PetrelOperationGroupTransferSizeGigabytes = 5,
  /// Some tens of gigabytes.
  PetrelOperationGroupTransferSizeTensOfGigabytes = 6,
  /// Some hundreds of gigabytes.
  PetrelOperationGroupTransferSizeHundredsOfGigabytes = 7,
};

/// The state of a participant's invitation. The raw values are those of Apple's framework.
enum OPEN("CKShareParticipantAcceptanceStatus") PetrelShareParticipantAcceptanceStatus : long {
  /// The state is not known.
  PetrelShareParticipantAcceptanceStatusUnknown = 0,
  /// The participant was invited and has not answered.
  PetrelShareParticipantAcceptanceStatusPending = 1,
  /// The participant accepted the share.
  PetrelShareParticipantAcceptanceStatusAccepted = 2,
  /// The participant was removed or left.
  PetrelShareParticipantAcceptanceStatusRemoved = 3,
};

/// The rights of a participant to the shared records. The raw values are those of Apple's
/// framework.
enum OPEN("CKShareParticipantPermission") PetrelShareParticipantPermission : long {
  /// The rights are not known.
  PetrelShareParticipantPermissionUnknown = 0,
  /// The participant has no access.
  PetrelShareParticipantPermissionNone = 1,
  /// The participant can read the records.
  PetrelShareParticipantPermissionReadOnly = 2,
  /// The participant can read, create, change and delete records.
  PetrelShareParticipantPermissionReadWrite = 3,
};

/// The role of a participant in the share. The raw values are those of Apple's framework.
enum OPEN("CKShareParticipantRole") PetrelShareParticipantRole : long {
  /// The role is not known.
  PetrelShareParticipantRoleUnknown = 0,
  /// The user who made the share.
  PetrelShareParticipantRoleOwner = 1,
  /// A participant who can manage the other participants.
  PetrelShareParticipantRoleAdministrator = 2,
  /// A participant who was invited.
  PetrelShareParticipantRolePrivateUser = 3,
  /// A participant who joined with the URL of a share that has a public permission.
  PetrelShareParticipantRolePublicUser = 4,
};

/// The former name of `CKShare.ParticipantRole`. It has no administrator: an administrator's value has no name.
enum OPEN("CKShareParticipantType") PetrelShareParticipantType : long {
  /// The role is not known.
  PetrelShareParticipantTypeUnknown = 0,
  /// The user who made the share.
  PetrelShareParticipantTypeOwner = 1,
  /// A participant who was invited.
  PetrelShareParticipantTypePrivateUser = 3,
  /// A participant who joined with the URL of a share that has a public permission.
  PetrelShareParticipantTypePublicUser = 4,
};

// The enumerations of the sync engine for Objective-C. Swift code sees them, but no declaration of Swift uses them:
// `CKSyncEngine` has nested enumerations of its own.

/// The kind of a sync engine's event, as Objective-C code has it. Swift code uses `CKSyncEngine.Event`.
enum OPEN("CKSyncEngineEventType") PetrelSyncEngineEventType : long {
  /// The state of the engine changed.
  PetrelSyncEngineEventTypeStateUpdate = 0,
  /// A user signed in or out, or another user signed in.
  PetrelSyncEngineEventTypeAccountChange = 1,
  /// The engine fetched changes of zones.
  PetrelSyncEngineEventTypeFetchedDatabaseChanges = 2,
  /// The engine fetched changes of records.
  PetrelSyncEngineEventTypeFetchedRecordZoneChanges = 3,
  /// The engine sent changes of zones.
  PetrelSyncEngineEventTypeSentDatabaseChanges = 4,
  /// The engine sent changes of records.
  PetrelSyncEngineEventTypeSentRecordZoneChanges = 5,
  /// The engine begins to fetch changes.
  PetrelSyncEngineEventTypeWillFetchChanges = 6,
  /// The engine begins to fetch the changes of a zone.
  PetrelSyncEngineEventTypeWillFetchRecordZoneChanges = 7,
  /// The engine has fetched the changes of a zone.
  PetrelSyncEngineEventTypeDidFetchRecordZoneChanges = 8,
  /// The engine has fetched changes.
  PetrelSyncEngineEventTypeDidFetchChanges = 9,
  /// The engine begins to send changes.
  PetrelSyncEngineEventTypeWillSendChanges = 10,
  /// The engine has sent changes.
  PetrelSyncEngineEventTypeDidSendChanges = 11,
};

/// The kind of a change of account, as Objective-C code has it. Swift code uses
/// `CKSyncEngine.Event.AccountChange.ChangeType`.
enum OPEN("CKSyncEngineAccountChangeType") PetrelSyncEngineAccountChangeType : long {
  /// A user signed in.
  PetrelSyncEngineAccountChangeTypeSignIn = 0,
  /// The user signed out.
  PetrelSyncEngineAccountChangeTypeSignOut = 1,
  /// Another user signed in.
  PetrelSyncEngineAccountChangeTypeSwitchAccounts = 2,
};

/// The reason for the deletion of a zone, as Objective-C code has it. Swift code uses
/// `CKDatabase.DatabaseChange.Deletion.Reason`.
enum OPEN("CKSyncEngineZoneDeletionReason") PetrelSyncEngineZoneDeletionReason : long {
  /// An app deleted the zone.
  PetrelSyncEngineZoneDeletionReasonDeleted = 0,
  /// The zone was deleted outside of the app.
  PetrelSyncEngineZoneDeletionReasonPurged = 1,
  /// The user reset the encrypted data.
  PetrelSyncEngineZoneDeletionReasonEncryptedDataReset = 2,
};

/// The reason for a sync, as Objective-C code has it. Swift code uses `CKSyncEngine.SyncReason`.
enum OPEN("CKSyncEngineSyncReason") PetrelSyncEngineSyncReason : long {
  /// The engine planned the sync.
  PetrelSyncEngineSyncReasonScheduled = 0,
  /// The app asked for the sync.
  PetrelSyncEngineSyncReasonManual = 1,
};

/// The kind of a pending change of a record, as Objective-C code has it. Swift code uses
/// `CKSyncEngine.PendingRecordZoneChange`.
enum OPEN("CKSyncEnginePendingRecordZoneChangeType") PetrelSyncEnginePendingRecordZoneChangeType : long {
  /// A record to save.
  PetrelSyncEnginePendingRecordZoneChangeTypeSaveRecord = 0,
  /// A record to delete.
  PetrelSyncEnginePendingRecordZoneChangeTypeDeleteRecord = 1,
};

/// The kind of a pending change of a zone, as Objective-C code has it. Swift code uses
/// `CKSyncEngine.PendingDatabaseChange`.
enum OPEN("CKSyncEnginePendingDatabaseChangeType") PetrelSyncEnginePendingDatabaseChangeType : long {
  /// A zone to save.
  PetrelSyncEnginePendingDatabaseChangeTypeSaveZone = 0,
  /// A zone to delete.
  PetrelSyncEnginePendingDatabaseChangeTypeDeleteZone = 1,
};
