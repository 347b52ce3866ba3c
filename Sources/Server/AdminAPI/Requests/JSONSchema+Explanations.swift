import CloudKitModel
import JSONCoding
import WebServices

/// The shapes of explanations, as `Explanation+JSON.swift` writes them. What is not known is null.
extension JSONSchema {
  private static let zoneID = object(["zoneName": .text, "ownerRecordName": .text])
    .named("ExplainedZoneID")

  private static let silenceReason = object([
    "code": .text, "text": .text, "filter": text.orNull, "value": text.orNull,
    "device": text.orNull,
  ]).named("SilenceReason")

  private static let silentSubscription = object([
    "subscriptionID": .text, "subscriber": .text, "reasons": .list(silenceReason),
  ]).named("SilentSubscription")

  private static let explainedDelivery = object([
    "number": .count, "kind": text.orNull, "channel": text.orNull, "device": .text,
    "state": .anything,
    "attempts": .count, "reason": text.orNull, "updated": time.orNull, "due": time.orNull,
    "mergedInto": count.orNull, "mergedIntoNotification": text.orNull,
    "mergedIntoRecord?": text.orNull,
  ]).named("ExplainedDelivery")

  private static let explainedNotification = object([
    "notificationID": .text, "subscriptionID": .text, "subscriber": .text, "logged": time.orNull,
    "recordName": text.orNull, "zoneName": .text, "zoneID": zoneID, "sequence": .count,
    "changed": .time, "event": .text, "pruned": .bool, "prunedParts": .list(.text),
    "deliveries": .list(explainedDelivery), "silentDevices": .list(silenceReason),
  ]).named("ExplainedNotification")

  private static let explainedChange = object([
    "sequence": .count, "time": .time, "event": .text, "recordType": text.orNull,
    "zoneID": zoneID, "notificationID": .text, "request": .text, "changedBy": text.orNull,
    "device": text.orNull, "valuesKept": .bool,
    "steps": .list(.object(["step": .text, "time": time.orNull])),
    "notifications": .list(explainedNotification), "moreNotifications": .bool,
    "silent": .list(silentSubscription), "moreSilent": .bool,
  ]).named("ExplainedChange")

  private static let tally = object([
    "changes": .count, "fitting": .count, "lookedAtInVain": .count, "since": time.orNull,
    "refusals": .list(.object(["filter": .text, "count": .count])),
  ]).named("Tally")

  /// An explanation, with the names of the accounts and keys in it by their user record names.
  private static func explanation(_ members: [String: JSONSchema]) -> JSONSchema {
    object(
      members.merging(["users?": map(.text), "keys?": map(.text)]) { $1 })
  }

  static let recordExplanation = explanation([
    "recordName": .text, "zoneID": zoneID, "changes": .list(explainedChange), "more": .bool,
    "remark": text.orNull,
  ]).named("RecordExplanation")

  static let subscriptionExplanation = explanation([
    "exists": .bool, "deleted": time.orNull, "firings": .list(explainedNotification),
    "tally": tally, "moreChanges": .bool, "subscriber": .text, "subscriptionID": .text,
    "predicate?": .text, "subscription?": Subscription.schema(in: .answers),
  ]).named("SubscriptionExplanation")

  static let recordDryRun = explanation([
    "firing": .list(.object(["subscriptionID": .text, "subscriber": .text])),
    "moreFiring": .bool, "fitting": count.orNull, "silent": .list(silentSubscription),
    "moreSilent": .bool, "lookedAt": .count, "more": .bool, "continuation?": .text,
  ]).named("RecordDryRun")

  static let subscriptionDryRun = explanation([
    "fitting": .list(
      .object([
        "sequence": .count, "recordName": text.orNull, "recordType": text.orNull,
        "zoneID": zoneID, "notificationID": .text, "event": .text, "time": .time,
      ])),
    "tally": tally, "more": .bool, "before?": .count,
  ]).named("SubscriptionDryRun")
}
