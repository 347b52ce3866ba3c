import CloudKitModel

/// A notification of the log with the state of its delivery to each device.
public struct LoggedPush: Sendable, Hashable {
  /// The delivery of the notification to one device.
  public struct Delivery: Sendable, Hashable {
    /// The state of a delivery. The store has the raw values in its tables, so they never change.
    public enum State: Int64, Sendable, Hashable, CaseIterable {
      /// The push waits for its first or next attempt.
      case waiting = 0
      /// The push service or the webhook accepted the push.
      case delivered = 1
      /// The push is not sent, or not sent again: ``Delivery/reason`` says why.
      case abandoned = 2
      /// A newer delivery to the same device replaced this delivery.
      case merged = 3
      /// The push service or the webhook refused the push for good: see ``RefusedPush``.
      case refused = 4
    }

    /// The delivery's number in its database: ``StoreModel/Delivery/ID/number``.
    public var number: Int64
    /// The kind of the device; nil if the store no longer has the delivery's ``DeliveryRoute``.
    public var kind: DeviceToken.Kind?
    /// The device's ``DeviceToken/token``.
    public var token: String
    /// The state of the delivery.
    public var state: State
    /// The number of attempts to send the push.
    public var attempts: Int
    /// The reason for the present state, such as the service's answer to the last attempt, if the
    /// store has one.
    public var reason: String?
    /// The time of the last change of the state.
    public var updated: Timestamp
    /// The earliest time of the next attempt, or the end of the ``DeliveryLease``, while the
    /// delivery waits.
    public var due: Timestamp

    package init(
      number: Int64, kind: DeviceToken.Kind? = nil, token: String, state: State, attempts: Int,
      reason: String? = nil, updated: Timestamp, due: Timestamp
    ) {
      self.number = number
      self.kind = kind
      self.token = token
      self.state = state
      self.attempts = attempts
      self.reason = reason
      self.updated = updated
      self.due = due
    }
  }

  /// The notification.
  public var entry: LogEntry
  /// The deliveries in the order of their numbers, at most ``PushSearch/deliveryLimit``.
  public var deliveries: [Delivery]
  /// Why some of the user's devices have no delivery.
  public var unsent: UnsentDeliveries

  package init(entry: LogEntry, deliveries: [Delivery], unsent: UnsentDeliveries) {
    self.entry = entry
    self.deliveries = deliveries
    self.unsent = unsent
  }
}

/// A page of a search through the notification log.
public struct PushSearch: Sendable, Hashable {
  /// The most entries that one call examines.
  public static let budget = 5_000
  /// The most deliveries of one entry in an answer.
  public static let deliveryLimit = 100

  /// The selected entries, newest first.
  public var found: [LoggedPush]
  /// The `sequence` of the next call; nil at the end of the log. It can be set although ``found``
  /// has fewer entries than the limit (``budget``).
  public var next: Int64?

  package init(found: [LoggedPush], next: Int64? = nil) {
    self.found = found
    self.next = next
  }
}
