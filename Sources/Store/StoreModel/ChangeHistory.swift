import CloudKitModel

/// How much is kept of changes that were dispatched, for explanations.
public struct ChangeHistoryLimits: Sendable, Hashable {
  /// Changes of each database, the latest; with 0 none are kept.
  public var changes = 10_000
  /// How long they are kept, in seconds.
  public var age = 7.0 * 24 * 60 * 60
  /// Bytes of one; of a larger one it is kept that there was one, without its values.
  public var changeBytes = 16 << 10

  public init() {}
}

/// A change that was dispatched not long ago.
public struct PastChange: Sendable, Hashable {
  public var database: DatabaseID
  public var sequence: Int64
  /// The database's subscription version when the change was committed.
  public var subscriptionVersion: Int64
  /// When all that it led to was in the notification log.
  public var dispatched: Timestamp
  public var recordName: String?
  /// Nil when it was too large to be kept.
  public var change: Change?

  package init(
    database: DatabaseID, sequence: Int64, subscriptionVersion: Int64, dispatched: Timestamp,
    recordName: String? = nil, change: Change? = nil
  ) {
    self.database = database
    self.sequence = sequence
    self.subscriptionVersion = subscriptionVersion
    self.dispatched = dispatched
    self.recordName = recordName
    self.change = change
  }
}

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

/// A device that notifications went to once.
public struct GoneDevice: Sendable, Hashable {
  public var kind: DeviceToken.Kind
  public var token: String
  public var registered: Timestamp
  public var gone: Timestamp
  public var reason: String

  package init(
    kind: DeviceToken.Kind, token: String, registered: Timestamp, gone: Timestamp, reason: String
  ) {
    self.kind = kind
    self.token = token
    self.registered = registered
    self.gone = gone
    self.reason = reason
  }
}

/// What is known of a subscription now.
public struct SubscriptionState: Sendable, Hashable {
  public var stored: StoredSubscription
  /// The database's subscription version at which it was last changed.
  public var changed: Int64

  package init(stored: StoredSubscription, changed: Int64) {
    self.stored = stored
    self.changed = changed
  }
}

/// Some subscriptions of a database.
public struct SubscriptionStatePage: Sendable, Hashable {
  public var states: [SubscriptionState]
  /// Behind which there may be others; nil at the end.
  public var next: SubscriptionName?

  package init(states: [SubscriptionState], next: SubscriptionName? = nil) {
    self.states = states
    self.next = next
  }
}

/// When a subscription was deleted.
public struct SubscriptionDeletion: Sendable, Hashable {
  /// The database's subscription version from then on.
  public var version: Int64
  public var deleted: Timestamp

  package init(version: Int64, deleted: Timestamp) {
    self.version = version
    self.deleted = deleted
  }
}

/// What happened to changes that were dispatched, as far as it is kept.
public protocol ChangeHistoryStore: Sendable {
  /// The latest changes of a database, newest first.
  ///
  /// - Parameters:
  ///   - recordID: only those of this record; those without values are told by its name alone.
  ///   - sequence: only those before this one.
  func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, before sequence: Int64?, limit: Int
  ) async throws -> [PastChange]
  /// The notifications that a change led to, in the order in which they were logged.
  ///
  /// - Parameter subscriber: only those of this user.
  func notifications(
    ofChange change: PastChange, subscriber: String?, limit: Int
  ) async throws -> [PastNotification]
  /// The latest notifications of one subscription, newest first: those among the latest 2,000 of its
  /// subscriber in the database.
  func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [PastNotification]
  /// The notification that a delivery is of; nil when it is trimmed.
  func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry?
  func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState?
  func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion?
  /// Subscriptions in the order of subscribers and IDs.
  ///
  /// - Parameters:
  ///   - subscriptionID: only those with this ID, whoever has them.
  ///   - subscriber: only those of this user.
  ///   - name: only those behind this one.
  ///   - limit: how many are given. Where those of all users are looked through for an ID, fifty times
  ///     as many names are looked at.
  func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage
  /// Devices of a user that notifications of a container went to, for 30 days after they have gone.
  func goneDevices(of recipient: Recipient) async throws -> [GoneDevice]
  /// The number of the database at an address, if it has been used.
  func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID?
}
