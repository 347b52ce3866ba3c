import CloudKitModel
import PushChannels
import Storage
import StoreModel

/// The explanation of a record's recent changes: for each change, the notifications and their
/// deliveries to devices.
public struct RecordExplanation: Sendable {
  /// The record.
  public var recordID: RecordID
  /// The changes, newest first.
  public var changes: [ChangeExplanation]
  /// Whether the store keeps older changes of the record.
  public var moreComing: Bool
  /// A remark for people if the explanation contains no change; otherwise nil.
  public var remark: String?
}

/// A change with the notifications that it caused, and the subscriptions that it did not fire.
public struct ChangeExplanation: Sendable {
  /// The change's number in the database's change history. Later changes have greater numbers.
  public var sequence: Int64
  /// The change as it was committed.
  public var change: Change
  /// Whether the store keeps the field values of the record. It does not if the change was too
  /// large.
  public var hasFields: Bool
  /// The time at which all notifications of the change were in the log; nil while the change waits
  /// for the dispatcher.
  public var dispatched: Timestamp?
  /// The notifications that the change caused.
  public var notifications: [NotificationExplanation] = []
  /// Whether the change caused more notifications than are listed.
  public var moreNotifications = false
  /// The subscriptions that the change did not fire.
  public var silent: [SilentSubscription] = []
  /// Whether there are more silent subscriptions than are listed.
  public var moreSilent = false
}

/// A notification with its deliveries, and the devices that got none.
public struct NotificationExplanation: Sendable {
  /// The entry in the notification log.
  public var entry: LogEntry
  /// The parts of the notification that the push payload lacks, in the order of their removal. The
  /// list is empty if the payload is complete.
  public var prunedParts: [PushPayloadPart]
  /// The deliveries to the subscriber's devices.
  public var deliveries: [DeliveryExplanation]
  /// The reasons why devices of the subscriber got no delivery.
  public var silentDevices: [SilenceReason]
}

/// A delivery with its outcome.
public struct DeliveryExplanation: Sendable {
  /// The delivery as the store keeps it.
  public var delivery: PastDelivery
  /// The log entry of the newer notification whose push replaced this delivery. Nil if no push
  /// replaced it, or if the entry is no longer in the log.
  public var mergedInto: LogEntry?

  /// The code of the reason why the push was not sent; nil for another state or reason.
  public var code: SilenceReason.Code? {
    delivery.state == .abandoned && delivery.reason == ChangeForwarding.removedReason
      ? .removedSince : nil
  }
}

/// A subscription that a change did not fire, with all reasons.
public struct SilentSubscription: Sendable {
  /// The user record name of the subscriber.
  public var subscriber: String
  /// The subscription's ID.
  public var subscriptionID: String
  /// The reasons, in the order of the server's checks.
  public var reasons: [SilenceReason]
}
