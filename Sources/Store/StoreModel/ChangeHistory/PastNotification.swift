import CloudKitModel

/// A notification of a change, with its deliveries.
public struct PastNotification: Sendable, Hashable {
  public var entry: LogEntry
  public var deliveries: [PastDelivery]
  /// Why some devices have no delivery.
  public var unsent: UnsentDeliveries

  package init(entry: LogEntry, deliveries: [PastDelivery], unsent: UnsentDeliveries) {
    self.entry = entry
    self.deliveries = deliveries
    self.unsent = unsent
  }
}

/// The delivery of a notification to one device.
public struct PastDelivery: Sendable, Hashable {
  public enum State: String, Sendable, Hashable {
    case waiting
    case delivered
    case abandoned
    /// Replaced by a newer delivery: ``PastDelivery/mergedInto``.
    case merged
    /// Refused because of a fault in Petrel.
    case refused
  }

  public var id: Delivery.ID
  public var kind: DeviceToken.Kind?
  public var token: String
  public var state: State
  public var attempts: Int
  /// The result of the last attempt, or why the delivery waits or was abandoned.
  public var reason: String?
  /// When the delivery entered this state or was last postponed.
  public var updated: Timestamp
  /// While the delivery waits, the time of the next attempt; during an attempt, the end of its
  /// lease.
  public var due: Timestamp
  /// The number of the delivery that replaced it.
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
