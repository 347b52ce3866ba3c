// The names that code from before Swift 4.2 uses.

@available(*, deprecated, renamed: "CKQuerySubscription.Options")
public typealias CKQuerySubscriptionOptions = CKQuerySubscription.Options

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
