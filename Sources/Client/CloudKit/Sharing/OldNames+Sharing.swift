// The names that code from before Swift 4.2 uses, and those that early versions of Swift gave to
// nested types.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

@available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
public typealias CKShareParticipantAcceptanceStatus = CKShare.ParticipantAcceptanceStatus
@available(*, deprecated, renamed: "CKShare.ParticipantPermission")
public typealias CKShareParticipantPermission = CKShare.ParticipantPermission
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShareParticipantRole = CKShare.ParticipantRole
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShareParticipantType = CKShare.ParticipantType
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
public typealias CKApplicationPermissions = CKContainer.ApplicationPermissions
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
public typealias CKApplicationPermissionStatus = CKContainer.ApplicationPermissionStatus
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
public typealias CKApplicationPermissionBlock = CKContainer.ApplicationPermissionBlock

@available(*, deprecated, renamed: "CKShare.SystemFieldKey.title")
public let CKShareTitleKey: CKRecord.FieldKey = CKShare.SystemFieldKey.title
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.thumbnailImageData")
public let CKShareThumbnailImageDataKey: CKRecord.FieldKey =
  CKShare.SystemFieldKey.thumbnailImageData
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.shareType")
public let CKShareTypeKey: CKRecord.FieldKey = CKShare.SystemFieldKey.shareType

// Apple's module shows these in code that its completion writes.
public typealias CKShare_Participant_AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
public typealias CKShare_Participant_Permission = CKShare.ParticipantPermission
public typealias CKShare_Participant_Role = CKShare.ParticipantRole
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShare_Participant_ParticipantType = CKShare.ParticipantType
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
public typealias CKContainer_Application_Permissions = CKContainer.ApplicationPermissions
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
public typealias CKContainer_Application_PermissionStatus = CKContainer.ApplicationPermissionStatus
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
public typealias CKContainer_Application_PermissionBlock = CKContainer.ApplicationPermissionBlock
