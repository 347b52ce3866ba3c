// The names that code from before Swift 4.2 uses, and the option set of the first subscriptions.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

@available(*, deprecated, renamed: "CKQuerySubscription.Options")
public typealias CKQuerySubscriptionOptions = CKQuerySubscription.Options

@available(*, deprecated, renamed: "CKQuerySubscription.Options")
public typealias CKSubscriptionOptions = CKQuerySubscription.Options

@available(*, deprecated, renamed: "CKSubscription.SubscriptionType")
public typealias CKSubscriptionType = CKSubscription.SubscriptionType

@available(*, deprecated, renamed: "CKQueryNotification.Reason")
public typealias CKQueryNotificationReason = CKQueryNotification.Reason

@available(*, deprecated, renamed: "CKNotification.NotificationType")
public typealias CKNotificationType = CKNotification.NotificationType

@available(*, deprecated, renamed: "CKRecord.ReferenceAction")
public typealias CKReferenceAction = CKRecord.ReferenceAction

@available(*, deprecated, renamed: "CKRecordZone.Capabilities")
public typealias CKRecordZoneCapabilities = CKRecordZone.Capabilities

@available(*, deprecated, renamed: "CKModifyRecordsOperation.RecordSavePolicy")
public typealias CKRecordSavePolicy = CKModifyRecordsOperation.RecordSavePolicy

@available(*, deprecated, renamed: "CKOperationGroup.TransferSize")
public typealias CKOperationGroupTransferSize = CKOperationGroup.TransferSize

@available(*, deprecated, renamed: "CKError.Code")
public typealias CKErrorCode = CKError.Code

@available(*, deprecated, renamed: "CKRecordZone.ID.defaultZoneName")
public let CKRecordZoneDefaultName = CKRecordZone.ID.defaultZoneName

@available(*, deprecated, renamed: "CKRecord.SystemType.userRecord")
public let CKRecordTypeUserRecord = CKRecord.SystemType.userRecord
