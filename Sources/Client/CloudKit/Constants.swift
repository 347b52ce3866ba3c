// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Stands for the owner of a zone who is the current user.
public let CKCurrentUserDefaultName = "__defaultOwner__"

@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = "__defaultOwner__"

/// The record name of the share of a whole zone.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"
