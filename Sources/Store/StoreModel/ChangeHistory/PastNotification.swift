import CloudKitModel

/// A notification that a change led to, with what became of it.
public struct PastNotification: Sendable, Hashable {
  public var entry: LogEntry
  public var deliveries: [PastDelivery]
  /// Why there are no deliveries to some devices.
  public var unsent: UnsentDeliveries

  package init(entry: LogEntry, deliveries: [PastDelivery], unsent: UnsentDeliveries) {
    self.entry = entry
    self.deliveries = deliveries
    self.unsent = unsent
  }
}

/// What became of a notification on its way to one device.
public struct PastDelivery: Sendable, Hashable {
  public enum State: String, Sendable, Hashable {
    case waiting
    case delivered
    case abandoned
    /// A newer one went in its place: ``PastDelivery/mergedInto``.
    case merged
    /// Refused by a fault of ours.
    case refused
  }

  public var id: Delivery.ID
  public var kind: DeviceToken.Kind?
  public var token: String
  public var state: State
  public var attempts: Int
  /// What the last attempt brought, or why it waits or was given up.
  public var reason: String?
  /// When it came into this state, or was put off last.
  public var updated: Timestamp
  /// When it is tried next, while it waits; the end of the lease of one that is under way.
  public var due: Timestamp
  /// The delivery that went in its place.
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
