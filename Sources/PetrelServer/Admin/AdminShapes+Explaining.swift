/// The shapes of explanations, as `Explanation+JSON.swift` writes them. What is not known is null.
extension AdminSchema {
  private static let zoneID = object(["zoneName": .text, "ownerRecordName": .text])
    .named("ZoneID")

  private static let silenceReason = object([
    "code": .text, "text": .text, "filter": text.orNull, "value": text.orNull,
    "device": text.orNull,
  ]).named("SilenceReason")

  private static let silentSubscription = object([
    "subscriptionID": .text, "subscriber": .text, "reasons": .list(silenceReason),
  ]).named("SilentSubscription")

  private static let explainedDelivery = object([
    "number": .count, "kind": text.orNull, "device": .text, "state": .anything,
    "attempts": .count, "reason": text.orNull, "updated": time.orNull, "due": time.orNull,
    "mergedInto": count.orNull, "mergedIntoNotification": text.orNull,
  ]).named("ExplainedDelivery")

  private static let explainedNotification = object([
    "notificationID": .text, "subscriptionID": .text, "subscriber": .text, "logged": time.orNull,
    "recordName": text.orNull, "event": .text, "pruned": .bool,
    "deliveries": .list(explainedDelivery), "silentDevices": .list(silenceReason),
  ]).named("ExplainedNotification")

  private static let explainedChange = object([
    "sequence": .count, "time": time.orNull, "event": text.orNull, "recordType": text.orNull,
    "zoneID": zoneID.orNull, "notificationID": text.orNull, "changedBy": text.orNull,
    "device": text.orNull, "steps": .list(.object(["step": .text, "time": time.orNull])),
    "notifications": .list(explainedNotification), "moreNotifications": .bool,
    "silent": .list(silentSubscription), "moreSilent": .bool,
  ]).named("ExplainedChange")

  private static let tally = object([
    "changes": .count, "fitting": .count, "lookedAtInVain": .count, "since": time.orNull,
    "refusals": .list(.object(["filter": .text, "count": .count])),
  ]).named("Tally")

  /// Names of accounts by their user record names.
  private static let names = map(.text)

  static let recordExplanation = object([
    "recordName": .text, "zoneID": zoneID, "changes": .list(explainedChange), "more": .bool,
    "remark": text.orNull, "users?": names,
  ]).named("RecordExplanation")

  static let subscriptionExplanation = object([
    "exists": .bool, "deleted": time.orNull, "firings": .list(explainedNotification),
    "tally": tally, "users?": names,
  ]).named("SubscriptionExplanation")

  static let recordDryRun = object([
    "firing": .list(.object(["subscriptionID": .text, "subscriber": .text])),
    "moreFiring": .bool, "silent": .list(silentSubscription), "users?": names,
  ]).named("RecordDryRun")

  static let subscriptionDryRun = object([
    "fitting": .list(
      .object(["recordName": text.orNull, "event": text.orNull, "time": time.orNull])),
    "tally": tally, "users?": names,
  ]).named("SubscriptionDryRun")
}
