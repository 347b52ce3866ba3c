// The names that code from before Swift 4.2 uses, and those that early versions of Swift gave to
// nested types.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The former name of `CKContainer.ApplicationPermissions`.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
public typealias CKApplicationPermissions = CKContainer.ApplicationPermissions
/// The former name of `CKContainer.ApplicationPermissionBlock`.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
public typealias CKApplicationPermissionBlock = CKContainer.ApplicationPermissionBlock

/// The record type of shares, `cloudkit.share`, under its name before Swift 4.2.
@available(*, deprecated, renamed: "CKRecord.SystemType.share")
public let CKRecordTypeShare = CKRecord.SystemType.share
/// The former name of ``CKShare/SystemFieldKey/title``.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.title")
public let CKShareTitleKey: CKRecord.FieldKey = CKShare.SystemFieldKey.title
/// The former name of ``CKShare/SystemFieldKey/thumbnailImageData``.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.thumbnailImageData")
public let CKShareThumbnailImageDataKey: CKRecord.FieldKey =
  CKShare.SystemFieldKey.thumbnailImageData
/// The former name of ``CKShare/SystemFieldKey/shareType``.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.shareType")
public let CKShareTypeKey: CKRecord.FieldKey = CKShare.SystemFieldKey.shareType

/// The name that code completion for Apple's module writes for
/// ``CKShare/ParticipantAcceptanceStatus``.
public typealias CKShare_Participant_AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
/// The name that code completion for Apple's module writes for ``CKShare/ParticipantPermission``.
public typealias CKShare_Participant_Permission = CKShare.ParticipantPermission
/// The name that code completion for Apple's module writes for ``CKShare/ParticipantRole``.
public typealias CKShare_Participant_Role = CKShare.ParticipantRole
/// The name that code completion for Apple's module writes for ``CKShare/ParticipantType``.
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShare_Participant_ParticipantType = CKShare.ParticipantType
/// The name that code completion for Apple's module writes for
/// `CKContainer.ApplicationPermissions`.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
public typealias CKContainer_Application_Permissions = CKContainer.ApplicationPermissions
/// The name that code completion for Apple's module writes for
/// `CKContainer.ApplicationPermissionStatus`.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
public typealias CKContainer_Application_PermissionStatus = CKContainer.ApplicationPermissionStatus
/// The name that code completion for Apple's module writes for
/// `CKContainer.ApplicationPermissionBlock`.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
public typealias CKContainer_Application_PermissionBlock = CKContainer.ApplicationPermissionBlock
