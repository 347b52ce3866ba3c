import CloudKitModel

/// One environment of a container.
public struct ContainerPlace: Sendable, Hashable {
  public var container: String
  public var environment: ContainerEnvironment

  public init(container: String, environment: ContainerEnvironment) {
    self.container = container
    self.environment = environment
  }
}

/// A database in a list.
public struct DatabaseSummary: Sendable, Hashable {
  /// What tells it from the others of its container's environment.
  public struct Name: Sendable, Hashable {
    public var scope: DatabaseScope
    /// A user record name; empty for the public database.
    public var owner: String

    public init(scope: DatabaseScope, owner: String) {
      self.scope = scope
      self.owner = owner
    }
  }

  public var id: DatabaseID
  public var name: Name
  /// The name of the owner's account; nil for the public database and for an owner without account,
  /// as a server-to-server key is.
  public var userName: String?

  package init(id: DatabaseID, name: Name, userName: String? = nil) {
    self.id = id
    self.name = name
    self.userName = userName
  }
}

/// What tells a device from all others.
public struct DeviceName: Sendable, Hashable {
  public var kind: DeviceToken.Kind
  public var token: String

  public init(kind: DeviceToken.Kind, token: String) {
    self.kind = kind
    self.token = token
  }
}

/// A page of a search through subscriptions.
public struct SubscriptionSearch: Sendable, Hashable {
  /// Subscriptions that one call looks at.
  public static let budget = 5_000

  public var found: [StoredSubscription]
  /// Behind which the search goes on; nil when it came to the end.
  public var next: SubscriptionName?

  package init(found: [StoredSubscription], next: SubscriptionName? = nil) {
    self.found = found
    self.next = next
  }
}

/// A notification of the log and what became of it on its way to each device.
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
    /// Nil where the way is not known any more.
    public var kind: DeviceToken.Kind?
    public var token: String
    public var state: State
    public var attempts: Int
    /// Why it waits or was given up.
    public var reason: String?
    public var updated: Timestamp
    /// Not before this moment, while it waits.
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

/// A page of a search through the notification log.
public struct PushSearch: Sendable, Hashable {
  /// Entries that one call looks at.
  public static let budget = 5_000
  /// Deliveries that are told of one entry.
  public static let deliveryLimit = 100

  public var found: [LoggedPush]
  /// Before which the search goes on; nil when it came to the end.
  public var next: Int64?

  package init(found: [LoggedPush], next: Int64? = nil) {
    self.found = found
    self.next = next
  }
}
