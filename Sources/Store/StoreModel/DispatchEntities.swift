import CloudKitModel

/// A committed change that waits to be dispatched, as it stands in the outbox.
public struct OutboxEntry: Sendable, Hashable {
  /// For whom it waits.
  public var part: DatabasePart
  /// Rises with each change of the database, in the order of the commits.
  public var sequence: Int64
  /// The database's subscription version when the change was committed.
  public var subscriptionVersion: Int64
  public var change: Change
  /// What the change led to is settled for subscriptions up to this one, by the bytes of subscriber
  /// and ID; nil before the first. See ``MatchedChange/isWhole``.
  public var settledThrough: SubscriptionName?
  /// Whether it is too large to be kept when it is dispatched.
  package var isLarge = false

  public var database: DatabaseID { part.database }

  public init(
    part: DatabasePart, sequence: Int64, subscriptionVersion: Int64, change: Change,
    settledThrough: SubscriptionName? = nil
  ) {
    self.part = part
    self.sequence = sequence
    self.subscriptionVersion = subscriptionVersion
    self.change = change
    self.settledThrough = settledThrough
  }
}

/// An outbox entry together with the subscriptions it fires, or with the next of them.
public struct MatchedChange: Sendable {
  public let entry: OutboxEntry
  /// In the order of subscribers and IDs, by their bytes, where there are more than these.
  public let firings: [StoredSubscription]
  /// Whether no firings come after these: the change is dispatched with them. Otherwise it waits,
  /// settled through the last of these.
  public let isWhole: Bool
  /// Whether notifications of a deletion carry the last values of the desired keys.
  public let carriesLastValues: Bool
  /// For each firing a number, the same only for subscriptions that differ in nothing but their IDs; nil
  /// when that is not known. The store encodes once what such subscriptions have in common.
  public let forms: [UInt64]?
  /// What ``RecordStore/prepare(_:)`` encoded; nil before that.
  package var preparation: (any DispatchPreparation)?

  public init(
    entry: OutboxEntry, firings: [StoredSubscription], forms: [UInt64]? = nil,
    isWhole: Bool = true, carriesLastValues: Bool = false
  ) {
    self.entry = entry
    self.firings = firings
    self.isWhole = isWhole
    self.carriesLastValues = carriesLastValues
    self.forms = forms
  }
}

/// What a store encodes of a ``MatchedChange`` before it writes what the change led to.
package protocol DispatchPreparation: Sendable {}

/// What one transaction of the dispatcher brought about.
public struct DispatchResult: Sendable {
  /// The entries written to the notification log.
  public var logged: [LogEntry]
  /// The deliveries that are now owed; where some were leased, those.
  public var deliveries: [Delivery]
  /// How many more are owed on which route, where some were leased.
  public var waiting: [DeliveryRoute.ID: Int]
  /// Deliveries that were not written; their notifications are in the log.
  public var unsent: UnsentDeliveryCounts
  /// What subscribers did not get because they may not read the record.
  public var withheld: [WithheldNotification]

  public init(
    logged: [LogEntry] = [], deliveries: [Delivery] = [],
    waiting: [DeliveryRoute.ID: Int] = [:], unsent: UnsentDeliveryCounts = UnsentDeliveryCounts(),
    withheld: [WithheldNotification] = []
  ) {
    self.logged = logged
    self.deliveries = deliveries
    self.waiting = waiting
    self.unsent = unsent
    self.withheld = withheld
  }
}

/// An entry of the notification log.
public struct LogEntry: Sendable, Hashable {
  public var database: DatabaseID
  /// Rises with each entry of the database.
  public var sequence: Int64
  public var notification: SubscriptionNotification
  public var logged: Timestamp

  public init(
    database: DatabaseID, sequence: Int64, notification: SubscriptionNotification,
    logged: Timestamp
  ) {
    self.database = database
    self.sequence = sequence
    self.notification = notification
    self.logged = logged
  }
}
