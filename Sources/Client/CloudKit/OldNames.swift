// Names that code from before Swift 4.2 uses, and the option set of the first subscriptions. Each
// is deprecated and means exactly what its replacement means.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The name of ``CKQuerySubscription/Options`` before Swift 4.2.
@available(*, deprecated, renamed: "CKQuerySubscription.Options")
public typealias CKQuerySubscriptionOptions = CKQuerySubscription.Options

/// The option set of `CKSubscription` in the SDKs of iOS 8 and 9. Its bits are those of
/// ``CKQuerySubscription/Options``.
@available(*, deprecated, renamed: "CKQuerySubscription.Options")
public typealias CKSubscriptionOptions = CKQuerySubscription.Options

/// The name of ``CKRecordZone/Capabilities`` before Swift 4.2.
@available(*, deprecated, renamed: "CKRecordZone.Capabilities")
public typealias CKRecordZoneCapabilities = CKRecordZone.Capabilities

/// The name of the default zone, `_defaultZone`, under its name before Swift 4.2.
@available(*, deprecated, renamed: "CKRecordZone.ID.defaultZoneName")
public let CKRecordZoneDefaultName = CKRecordZone.ID.defaultZoneName

/// The record type of user records, `Users`, under its name before Swift 4.2.
@available(*, deprecated, renamed: "CKRecord.SystemType.userRecord")
public let CKRecordTypeUserRecord = CKRecord.SystemType.userRecord

/// The name of ``CKRecord/SystemFieldKey/parent`` before Swift 4.2.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.parent")
public let CKRecordParentKey = CKRecord.SystemFieldKey.parent

/// The name of ``CKRecord/SystemFieldKey/share`` before Swift 4.2.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.share")
public let CKRecordShareKey = CKRecord.SystemFieldKey.share

/// The value of ``CKQueryOperation/maximumResults`` under its name before Swift 3.
@available(*, deprecated, renamed: "CKQueryOperation.maximumResults")
public let CKQueryOperationMaximumResults = CKQueryOperation.maximumResults

/// The name of ``CKFetchRecordZoneChangesConfiguration`` before iOS 12.
@available(*, deprecated, renamed: "CKFetchRecordZoneChangesOperation.ZoneConfiguration")
public typealias CKFetchRecordZoneChangesOptions = CKFetchRecordZoneChangesConfiguration

/// The name that code completion for Apple's module writes for ``CKRecord/ReferenceAction``.
@available(*, deprecated, renamed: "CKRecord.ReferenceAction")
public typealias CKRecord_Reference_Action = CKRecord.ReferenceAction
