import CloudKitModel

/// A notification that a past change fired, with its deliveries.
public struct PastNotification: Sendable, Hashable {
  /// The notification.
  public var entry: LogEntry
  /// The deliveries to the user's devices that are still kept.
  public var deliveries: [PastDelivery]
  /// The reasons why some devices have no delivery.
  public var unsent: UnsentDeliveries

  /// Creates a past notification from its log entry and the entry's deliveries.
  package init(entry: LogEntry, deliveries: [PastDelivery], unsent: UnsentDeliveries) {
    self.entry = entry
    self.deliveries = deliveries
    self.unsent = unsent
  }
}

/// The delivery of a notification to one device.
public struct PastDelivery: Sendable, Hashable {
  /// The state of a delivery.
  public enum State: String, Sendable, Hashable {
    /// The push waits for its first or next attempt.
    case waiting
    /// The push service accepted the push.
    case delivered
    /// The delivery was given up: ``PastDelivery/reason`` says why.
    case abandoned
    /// Replaced by a newer delivery: ``PastDelivery/mergedInto``.
    case merged
    /// Refused because of a fault in Petrel.
    case refused
  }

  /// The delivery's database and number.
  public var id: Delivery.ID
  /// The kind of the device; nil if the store no longer has the route.
  public var kind: DeviceToken.Kind?
  /// The device's token: see ``DeviceToken/token``.
  public var token: String
  /// The state of the delivery.
  public var state: State
  /// The number of attempts to send the push.
  public var attempts: Int
  /// The result of the last attempt, or why the delivery waits or was abandoned.
  public var reason: String?
  /// The time at which the delivery entered this state or was last postponed.
  public var updated: Timestamp
  /// While the delivery waits, the time of the next attempt; during an attempt, the end of its
  /// lease.
  public var due: Timestamp
  /// The number of the delivery that replaced this one; nil for other states than ``State/merged``.
  public var mergedInto: Int64?

  /// Creates a past delivery from its row.
  package init(
    id: Delivery.ID, kind: DeviceToken.Kind? = nil, token: String, state: State, attempts: Int,
    reason: String? = nil, updated: Timestamp, due: Timestamp, mergedInto: Int64? = nil
  ) {
    self.id = id
    self.kind = kind
    self.token = token
    self.state = state
    self.attempts = attempts
    self.reason = reason
    self.updated = updated
    self.due = due
    self.mergedInto = mergedInto
  }
}
