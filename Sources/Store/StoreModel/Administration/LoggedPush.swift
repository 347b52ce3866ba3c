import CloudKitModel

/// A notification of the log with the state of its delivery to each device.
public struct LoggedPush: Sendable, Hashable {
  public struct Delivery: Sendable, Hashable {
    public enum State: Int64, Sendable, Hashable, CaseIterable {
      case waiting = 0
      case delivered = 1
      case abandoned = 2
      case merged = 3
      case refused = 4
    }

    public var number: Int64
    /// Nil if the route is no longer known.
    public var kind: DeviceToken.Kind?
    public var token: String
    public var state: State
    public var attempts: Int
    /// Why the delivery waits or was abandoned.
    public var reason: String?
    public var updated: Timestamp
    /// While the delivery waits, the earliest time of the next attempt.
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

  public var entry: LogEntry
  public var deliveries: [Delivery]
  /// Why there are no deliveries to some devices.
  public var unsent: UnsentDeliveries

  package init(entry: LogEntry, deliveries: [Delivery], unsent: UnsentDeliveries) {
    self.entry = entry
    self.deliveries = deliveries
    self.unsent = unsent
  }
}
