import CloudKitModel
import Explanation
import JSONCoding
import PushChannels
import Storage
import StoreModel
import WebServices

// The shapes of explanations in answers. A subscription is *silent* for a change if the change did
// not fire it. Times are in milliseconds since 1970. An unknown value is `null`.

extension ZoneID {
  fileprivate static let shape = AnswerShape<ZoneID>("ExplainedZoneID") { zone in
    zone.member("zoneName") { $0.zoneName }
    zone.member("ownerRecordName") { $0.ownerName }
  }
}

extension SilenceReason {
  fileprivate static let shape = AnswerShape<SilenceReason>("SilenceReason") { reason in
    reason.member("code") { $0.code.rawValue }
    reason.member("text") { $0.text }
    reason.nullable("filter") { $0.filter?.text }
    reason.nullable("value") { $0.value?.text }
    reason.nullable("device") { $0.device }
  }
}

extension SilentSubscription {
  fileprivate static let shape = AnswerShape<SilentSubscription>("SilentSubscription") { silent in
    silent.member("subscriptionID") { $0.subscriptionID }
    silent.member("subscriber") { $0.subscriber }
    silent.list("reasons", of: SilenceReason.shape) { $0.reasons }
  }
}

extension DeliveryExplanation {
  /// The shape of a delivery. `due` is `null` unless the delivery waits.
  fileprivate static let shape = AnswerShape<DeliveryExplanation>("ExplainedDelivery") {
    explained in
    explained.member("number", as: .count) { $0.delivery.id.number }
    explained.nullable("kind") { $0.delivery.kind }
    explained.nullable("channel") { explained in
      explained.delivery.kind.flatMap { PushChannelRegistry.channel(of: $0)?.name }
    }
    explained.member("device") { $0.delivery.token }
    explained.member("state") { "\($0.delivery.state)" }
    explained.member("attempts", as: .count) { $0.delivery.attempts }
    explained.nullable("reason") { $0.delivery.reason }
    explained.nullable("code") { $0.code?.rawValue }
    explained.member("updated") { $0.delivery.updated }
    explained.nullable("due") { $0.delivery.state == .waiting ? $0.delivery.due : nil }
    explained.nullable("mergedInto", as: .count) { $0.delivery.mergedInto }
    explained.nullable("mergedIntoNotification") {
      $0.mergedInto?.notification.change.notificationID.uuidString.lowercased()
    }
    explained.nullable("mergedIntoRecord") {
      $0.mergedInto?.notification.change.record?.recordID.recordName
    }
  }
}

extension NotificationExplanation {
  fileprivate static let shape = AnswerShape<NotificationExplanation>("ExplainedNotification") {
    explained in
    explained.member("notificationID") { $0.change.notificationID.uuidString.lowercased() }
    explained.member("subscriptionID") { $0.entry.notification.subscription.subscriptionID }
    explained.member("subscriber") { $0.entry.notification.subscriber }
    explained.member("logged") { $0.entry.logged }
    explained.nullable("recordName") { $0.change.record?.recordID.recordName }
    explained.member("zoneName") { $0.change.zoneID.zoneName }
    explained.object("zoneID", ZoneID.shape) { $0.change.zoneID }
    explained.member("sequence", as: .count) { $0.entry.sequence }
    explained.member("changed") { $0.change.timestamp }
    explained.member("event") { "\($0.change.event)" }
    explained.member("pruned") { !$0.prunedParts.isEmpty }
    explained.member("prunedParts") { $0.prunedParts.map(\.description) }
    explained.list("deliveries", of: DeliveryExplanation.shape) { $0.deliveries }
    explained.list("silentDevices", of: SilenceReason.shape) { $0.silentDevices }
  }

  private var change: Change { entry.notification.change }
}

extension ChangeExplanation {
  fileprivate static let shape = AnswerShape<ChangeExplanation>("ExplainedChange") { explained in
    explained.member("sequence", as: .count) { $0.sequence }
    explained.member("time") { $0.change.timestamp }
    explained.member("event") { "\($0.change.event)" }
    explained.nullable("recordType") { $0.change.record?.recordType }
    explained.object("zoneID", ZoneID.shape) { $0.change.zoneID }
    explained.member("notificationID") { $0.change.notificationID.uuidString.lowercased() }
    explained.member("request") { "\(RequestUUID(ofNotification: $0.change.notificationID))" }
    explained.nullable("changedBy") { $0.change.userRecordName }
    explained.nullable("device") { $0.change.deviceID }
    explained.member("valuesKept") { $0.hasFields }
    explained.list("steps", of: step) { explained in
      [("saved", explained.change.timestamp)]
        + (explained.dispatched.map { [("matched", $0)] } ?? [])
    }
    explained.list("notifications", of: NotificationExplanation.shape) { $0.notifications }
    explained.member("moreNotifications") { $0.moreNotifications }
    explained.list("silent", of: SilentSubscription.shape) { $0.silent }
    explained.member("moreSilent") { $0.moreSilent }
  }

  /// A step of the change in the server, with its time: `saved`, then `matched` when the change is
  /// dispatched.
  private static let step = AnswerShape<(name: String, time: Timestamp)> { step in
    step.member("step") { $0.name }
    step.member("time") { $0.time }
  }
}

extension RecordExplanation {
  /// The shape of the answer of `explain/record`.
  static let shape = AnswerShape<RecordExplanation> { explanation in
    explanation.member("recordName") { $0.recordID.recordName }
    explanation.object("zoneID", ZoneID.shape) { $0.recordID.zoneID }
    explanation.list("changes", of: ChangeExplanation.shape) { $0.changes }
    explanation.member("more") { $0.moreComing }
    explanation.nullable("remark") { $0.remark }
  }
}

/// The answer of `explain/subscription`: the explanation of a subscription, and the subscription's
/// name.
struct ExplainedSubscription: Sendable {
  var name: SubscriptionName
  var explanation: SubscriptionExplanation

  static let shape = AnswerShape<ExplainedSubscription> { explained in
    explained.member("subscriber") { $0.name.subscriber }
    explained.member("subscriptionID") { $0.name.subscriptionID }
    explained.optional("predicate") { $0.explanation.subscription?.predicate }
    explained.optional("subscription") { explained in
      explained.explanation.subscription.map {
        OwnedSubscription(subscription: $0, subscriber: explained.name.subscriber)
      }
    }
    explained.member("exists") { $0.explanation.subscription != nil }
    explained.nullable("existsInDatabase") { $0.explanation.place?.scope.pathComponent }
    explained.nullable("existsInEnvironment") { $0.explanation.place?.environment.rawValue }
    explained.nullable("deleted") { $0.explanation.deleted }
    explained.list("firings", of: NotificationExplanation.shape) { $0.explanation.firings }
    explained.object("tally", SubscriptionExplanation.Tally.shape) { $0.explanation.tally }
    explained.member("moreChanges") { $0.explanation.moreChanges }
  }
}

extension SubscriptionExplanation.Tally {
  /// The filter that refused the most changes comes first.
  fileprivate static let shape = AnswerShape<Self>("Tally") { tally in
    tally.member("changes", as: .count) { $0.changes }
    tally.member("fitting", as: .count) { $0.fitting }
    tally.member("checkedWithoutMatch", as: .count) { $0.checkedWithoutMatch }
    tally.nullable("since") { $0.since }
    tally.list("refusals", of: refusal) { tally in
      tally.refusals.map { ($0.key.text, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }
  }

  private static let refusal = AnswerShape<(filter: String, count: Int)> { refusal in
    refusal.member("filter") { $0.filter }
    refusal.member("count", as: .count) { $0.count }
  }
}

extension RecordDryRun {
  /// The shape of the answer of `explain/dry-run/record`.
  static let shape = AnswerShape<RecordDryRun> { run in
    run.list("firing", of: name) { $0.firing }
    run.member("moreFiring") { $0.moreFiring }
    run.nullable("fitting", as: .count) { $0.fitting }
    run.list("silent", of: SilentSubscription.shape) { $0.silent }
    run.member("moreSilent") { $0.moreSilent }
    run.member("lookedAt", as: .count) { $0.lookedAt }
    run.member("more") { $0.next != nil }
    run.optional("continuation") { run in
      run.next.map { AdminContinuation.text([$0.subscriber, $0.subscriptionID]) }
    }
  }

  private static let name = AnswerShape<SubscriptionName> { name in
    name.member("subscriptionID") { $0.subscriptionID }
    name.member("subscriber") { $0.subscriber }
  }
}

extension SubscriptionDryRun {
  /// The shape of the answer of `explain/dry-run/subscription`. The member `before` is the argument
  /// for the next page.
  static let shape = AnswerShape<SubscriptionDryRun> { run in
    run.list("fitting", of: past) { $0.fitting }
    run.object("tally", SubscriptionExplanation.Tally.shape) { $0.tally }
    run.member("more") { $0.next != nil }
    run.optional("before", as: .count) { $0.next }
  }

  private static let past = AnswerShape<PastChange> { past in
    past.member("sequence", as: .count) { $0.sequence }
    past.nullable("recordName") { $0.recordName }
    past.nullable("recordType") { $0.change.record?.recordType }
    past.object("zoneID", ZoneID.shape) { $0.change.zoneID }
    past.member("notificationID") { $0.change.notificationID.uuidString.lowercased() }
    past.member("event") { "\($0.change.event)" }
    past.member("time") { $0.change.timestamp }
  }
}
