import CloudKitModel
import JSONCoding
import PushChannels

// Explanations as JSON. Times are milliseconds since 1970.

extension RecordExplanation {
  /// `{"recordName", "zoneID", "changes": […], "more", "remark"}`
  public var json: JSONValue {
    .object([
      "recordName": .string(recordID.recordName), "zoneID": recordID.zoneID.json,
      "changes": .array(changes.map(\.json)), "more": .bool(moreComing),
      "remark": .text(remark),
    ])
  }
}

extension ChangeExplanation {
  /// `{"sequence", "time", "event", …, "steps": […], "notifications": […], "silent": […]}`
  public var json: JSONValue {
    var steps = [step("saved", at: change.timestamp)]
    if let dispatched { steps.append(step("matched", at: dispatched)) }
    return .object([
      "sequence": .int(sequence), "time": .time(change.timestamp),
      "event": .string("\(change.event)"), "recordType": .text(change.record?.recordType),
      "zoneID": change.zoneID.json,
      "notificationID": .string(change.notificationID.uuidString.lowercased()),
      "request": .string("\(RequestUUID(ofNotification: change.notificationID))"),
      "changedBy": .text(change.userRecordName), "device": .text(change.deviceID),
      "valuesKept": .bool(hasFields),
      "steps": .array(steps), "notifications": .array(notifications.map(\.json)),
      "moreNotifications": .bool(moreNotifications), "silent": .array(silent.map(\.json)),
      "moreSilent": .bool(moreSilent),
    ])
  }

  private func step(_ name: String, at time: Timestamp) -> JSONValue {
    .object(["step": .string(name), "time": .time(time)])
  }
}

extension NotificationExplanation {
  public var json: JSONValue {
    let notification = entry.notification
    return .object([
      "notificationID": .string(notification.change.notificationID.uuidString.lowercased()),
      "subscriptionID": .string(notification.subscription.subscriptionID),
      "subscriber": .string(notification.subscriber), "logged": .time(entry.logged),
      "recordName": .text(notification.change.record?.recordID.recordName),
      "zoneName": .string(notification.change.zoneID.zoneName),
      "zoneID": notification.change.zoneID.json, "sequence": .int(entry.sequence),
      "event": .string("\(notification.change.event)"), "pruned": .bool(!prunedParts.isEmpty),
      "prunedParts": .array(prunedParts.map { .string($0.description) }),
      "changed": .time(notification.change.timestamp),
      "deliveries": .array(deliveries.map(\.json)),
      "silentDevices": .array(silentDevices.map(\.json)),
    ])
  }
}

extension DeliveryExplanation {
  public var json: JSONValue {
    .object([
      "number": .int(delivery.id.number), "kind": .text(delivery.kind?.rawValue),
      "channel": .text(delivery.kind.flatMap { PushChannelRegistry.channel(of: $0)?.name }),
      "device": .string(delivery.token), "state": .string(delivery.state.rawValue),
      "attempts": .int(Int64(delivery.attempts)), "reason": .text(delivery.reason),
      "updated": .time(delivery.updated),
      "due": delivery.state == .waiting ? .time(delivery.due) : .null,
      "mergedInto": delivery.mergedInto.map { .int($0) } ?? .null,
      "mergedIntoNotification": .text(
        mergedInto?.notification.change.notificationID.uuidString.lowercased()),
      "mergedIntoRecord": .text(mergedInto?.notification.change.record?.recordID.recordName),
    ])
  }
}

extension SilentSubscription {
  public var json: JSONValue {
    .object([
      "subscriptionID": .string(subscriptionID), "subscriber": .string(subscriber),
      "reasons": .array(reasons.map(\.json)),
    ])
  }
}

extension SilenceReason {
  public var json: JSONValue {
    .object([
      "code": .string(code.rawValue), "text": .string(text), "filter": .text(filter?.text),
      "value": .text(value?.text), "device": .text(device),
    ])
  }
}

extension SubscriptionExplanation {
  public var json: JSONValue {
    .object([
      "exists": .bool(subscription != nil), "deleted": .time(deleted),
      "firings": .array(firings.map(\.json)), "tally": tally.json,
      "moreChanges": .bool(moreChanges),
    ])
  }
}

extension SubscriptionExplanation.Tally {
  public var json: JSONValue {
    let refusals = refusals.sorted { ($1.value, $0.key.text) < ($0.value, $1.key.text) }
    return .object([
      "changes": .int(Int64(changes)), "fitting": .int(Int64(fitting)),
      "lookedAtInVain": .int(Int64(lookedAtInVain)), "since": .time(since),
      "refusals": .array(
        refusals.map { .object(["filter": .string($0.key.text), "count": .int(Int64($0.value))]) }),
    ])
  }
}

extension RecordDryRun {
  public var json: JSONValue {
    .object([
      "firing": .array(
        firing.map {
          .object([
            "subscriptionID": .string($0.subscriptionID), "subscriber": .string($0.subscriber),
          ])
        }),
      "moreFiring": .bool(moreFiring), "fitting": fitting.map { .int(Int64($0)) } ?? .null,
      "silent": .array(silent.map(\.json)), "moreSilent": .bool(moreSilent),
      "lookedAt": .int(Int64(lookedAt)), "more": .bool(next != nil),
    ])
  }
}

extension SubscriptionDryRun {
  public var json: JSONValue {
    .object([
      "fitting": .array(
        fitting.map { past in
          .object([
            "sequence": .int(past.sequence), "recordName": .text(past.recordName),
            "recordType": .text(past.change.record?.recordType),
            "zoneID": past.change.zoneID.json,
            "notificationID": .string(past.change.notificationID.uuidString.lowercased()),
            "event": .string("\(past.change.event)"), "time": .time(past.change.timestamp),
          ])
        }),
      "tally": tally.json, "more": .bool(next != nil),
    ])
  }
}

extension ZoneID {
  fileprivate var json: JSONValue {
    .object(["zoneName": .string(zoneName), "ownerRecordName": .string(ownerName)])
  }
}

extension JSONValue {
  fileprivate static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
  fileprivate static func time(_ time: Timestamp?) -> JSONValue {
    time.map { .int($0.milliseconds) } ?? .null
  }
}
