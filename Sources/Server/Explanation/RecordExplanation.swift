import CloudKitModel
import PushChannels
import StoreModel

/// What became of a record's recent changes: the time line of each, from its commit to the devices.
public struct RecordExplanation: Sendable {
  public var recordID: RecordID
  /// Newest first.
  public var changes: [ChangeExplanation]
  /// Whether older changes are kept.
  public var moreComing: Bool
  /// Said when no change is kept, or something else is worth knowing.
  public var remark: String?
}

/// One change, with what it led to and what it did not.
public struct ChangeExplanation: Sendable {
  public var sequence: Int64
  public var change: Change
  /// Whether the record's fields were kept. A change that was too large is there without them.
  public var hasFields: Bool
  /// When all that it led to was in the notification log; nil while it waits to be matched.
  public var dispatched: Timestamp?
  public var notifications: [NotificationExplanation] = []
  /// Whether there are more notifications than are told.
  public var moreNotifications = false
  public var silent: [SilentSubscription] = []
  /// Whether there are more silent subscriptions than are told.
  public var moreSilent = false
}

/// One notification on its way.
public struct NotificationExplanation: Sendable {
  public var entry: LogEntry
  /// What the push lacks of the notification, in the order in which it went; empty where it is whole.
  public var prunedParts: [PushPayloadPart]
  public var deliveries: [DeliveryExplanation]
  /// Why devices of the subscriber got no push.
  public var silentDevices: [SilenceReason]
}

/// What became of a push.
public struct DeliveryExplanation: Sendable {
  public var delivery: PastDelivery
  /// The notification that was pushed in its place.
  public var mergedInto: LogEntry?
}

/// A subscription that did not fire, and all that spoke against it.
public struct SilentSubscription: Sendable {
  public var subscriber: String
  public var subscriptionID: String
  /// The first is what the server came to first.
  public var reasons: [SilenceReason]
}
