// Requests about shares, by users with and without rights.
extension FuzzTarget {
  static let sharing = [shares]

  private static let words =
    [
      "operations", "operationType", "record", "records", "recordName", "recordType", "fields",
      "value", "zoneID", "zoneName", "ownerRecordName", "recordChangeTag", "desiredKeys", "query",
      "zones", "zone", "atomic", "parent", "syncToken", "tokens", "fieldName", "forRecord",
      "publicPermission", "participants", "participantId", "type", "permission",
      "acceptanceStatus", "userIdentity", "userRecordName", "nameComponents", "lookupInfo",
      "emailAddress", "phoneNumber", "isApprovedRequester", "addedTimestamp", "oneTimeURL",
      "shortGUID", "share", "denyAccessRequests", "requesters", "requesterInformation", "blocked",
      "blockedInformation", "oneTimeStableUrlInfo", "oneTimeLinks", "sharingLink",
      "createShortGUID", "shortGUIDs", "shouldFetchRootRecord", "rootRecordDesiredKeys",
    ].map { "\"\($0)\":" }
    + [
      "create", "update", "forceUpdate", "replace", "delete", "forceDelete", "cloudkit.share",
      "cloudkit.zoneshare", "cloudkit.title", "cloudkit.thumbnailImageData", "NONE", "READ_ONLY",
      "READ_WRITE", "OWNER", "ADMINISTRATOR", "USER", "PUBLIC_USER", "UNKNOWN", "INVITED",
      "PENDING", "ACCEPTED", "REMOVED", "List", "Item", "Lists", "Whole", "Diary", "list", "milk",
      "loose", "diary", "page", "s", "w", "$list", "$whole", "$diary", "$anna", "$ben", "$cora",
      "$dave", "erin@example.com",
    ].map { "\"\($0)\"" } + ["[]", "{}", "null", "true", "false"]

  /// The callers and operations that the first byte of an input selects, from `A` on.
  private static let calls: [(caller: AttackedShares.Caller, operation: String)] = [
    (.anna, "private/records/modify"), (.ben, "shared/records/modify"),
    (.cora, "shared/records/modify"), (.ben, "public/records/resolve"),
    (.cora, "public/records/resolve"), (.nobody, "public/records/resolve"),
    (.ben, "public/records/accept"), (.cora, "public/records/accept"),
    (.nobody, "public/records/accept"), (.ben, "public/records/requestAccess"),
    (.cora, "public/records/requestAccess"), (.nobody, "public/records/requestAccess"),
    (.anna, "private/records/lookup"), (.ben, "shared/records/lookup"),
    (.cora, "shared/records/lookup"), (.ben, "shared/records/query"),
    (.ben, "shared/changes/zone"), (.ben, "shared/changes/database"),
    (.ben, "shared/zones/modify"), (.ben, "shared/zones/lookup"), (.ben, "shared/assets/upload"),
    (.anna, "public/records/resolve"), (.anna, "public/records/accept"),
    (.anna, "private/zones/modify"),
  ]

  /// A caller with an operation, and its body.
  private static let shares = FuzzTarget(
    "shares", longest: 2048, words: words,
    answering: { input in
      let shares = try await AttackedServices.shared.shares()
      let call = calls[Int((input.first ?? 65) &- 65) % calls.count]
      let body = input.dropFirst().text
      let response = await shares.answer(call.caller, call.operation, body: body)
      try response.check()
      try shares.check(response, to: call.caller, body: body)
      try hold(
        call.caller != .nobody || response.status >= 400,
        "who is not signed in is refused: \(response.bytes.text)")
      try await shares.checkRecordsOfDave()
    })
}
