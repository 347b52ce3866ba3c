// The names are those of Apple's framework.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The owner name that stands for the current user in a zone ID or a user record ID.
///
/// The zone of the public database has this owner name too.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// The former name of ``CKCurrentUserDefaultName``, with the same value.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = "__defaultOwner__"

/// The record name of the share of a whole zone. Each zone has at most one such record.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"
