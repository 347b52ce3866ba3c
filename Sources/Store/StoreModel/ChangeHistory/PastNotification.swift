import CloudKitModel

/// A notification that a past change fired, with its deliveries.
public struct PastNotification: Sendable, Hashable {
  /// The notification.
  public var entry: LogEntry
  /// The deliveries to the user's devices, except those that the store has deleted.
  public var deliveries: [PastDelivery]
  /// Why some of the user's devices have no delivery.
  public var unsent: UnsentDeliveries

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
    /// The push service or the webhook accepted the push.
    case delivered
    /// The push is not sent, or not sent again: ``PastDelivery/reason`` says why.
    case abandoned
    /// A newer delivery to the same device replaced this delivery: see ``PastDelivery/mergedInto``.
    case merged
    /// The push service or the webhook refused the push for good: see ``RefusedPush``.
    case refused
  }

  /// The delivery's database and number.
  public var id: Delivery.ID
  /// The kind of the device; nil if the store no longer has the delivery's ``DeliveryRoute``.
  public var kind: DeviceToken.Kind?
  /// The device's ``DeviceToken/token``.
  public var token: String
  /// The state of the delivery.
  public var state: State
  /// The number of attempts to send the push.
  public var attempts: Int
  /// The result of the last attempt, or the reason why the delivery waits or was abandoned, if the
  /// store has one.
  public var reason: String?
  /// The time at which the delivery entered this state or was last postponed.
  public var updated: Timestamp
  /// The earliest time of the next attempt, or the end of the ``DeliveryLease``, while the
  /// delivery waits.
  public var due: Timestamp
  /// The delivery that replaced this one, if it was ``State/merged`` and the number is known.
  public var mergedInto: Int64?

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

/// A period during which a device was registered for one user without a break. The container, the
/// environments, the bundle ID and the client's name for the device stay the same in it.
public struct DevicePeriod: Sendable, Hashable {
  /// The kind of the device.
  public var kind: DeviceToken.Kind
  /// The device's ``DeviceToken/token``.
  public var token: String
  /// The APNs environment. It has a meaning only for an APNs token.
  public var apnsEnvironment: APNsEnvironment
  /// The registration's ``DeviceToken/bundleID``.
  public var bundleID: String?
  /// The client's name for its device; nil if the client sent none.
  public var deviceID: String?
  /// The time of the first registration in the period.
  public var began: Timestamp
  /// The end of the period. For a present registration the time of the expiry; nil if it never
  /// expires.
  public var ended: Timestamp?
  /// The reason why the period ended; nil for a present registration.
  public var reason: String?

  package init(
    kind: DeviceToken.Kind, token: String, apnsEnvironment: APNsEnvironment, bundleID: String?,
    deviceID: String?, began: Timestamp, ended: Timestamp?, reason: String?
  ) {
    self.kind = kind
    self.token = token
    self.apnsEnvironment = apnsEnvironment
    self.bundleID = bundleID
    self.deviceID = deviceID
    self.began = began
    self.ended = ended
    self.reason = reason
  }

  /// Whether pushes could be queued for the device at this time.
  public func contains(_ time: Timestamp) -> Bool {
    began <= time && !hasEnded(by: time)
  }

  /// Whether the period has ended at this time or before.
  public func hasEnded(by time: Timestamp) -> Bool {
    ended.map { $0 <= time } ?? false
  }
}
