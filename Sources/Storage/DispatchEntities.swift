import CloudKitModel

/// A committed change that waits to be matched, as it stands in the outbox.
public struct OutboxEntry: Sendable, Hashable {
  public var database: DatabaseID
  /// Rises with each change of the database, in the order of the commits.
  public var sequence: Int64
  /// The database's subscription version when the change was committed.
  public var subscriptionVersion: Int64
  public var change: Change

  public init(database: DatabaseID, sequence: Int64, subscriptionVersion: Int64, change: Change) {
    self.database = database
    self.sequence = sequence
    self.subscriptionVersion = subscriptionVersion
    self.change = change
  }
}

/// An outbox entry together with the subscriptions it fires.
public struct MatchedChange: Sendable {
  public var entry: OutboxEntry
  public var firings: [StoredSubscription]
  /// Whether notifications of a deletion carry the last values of the desired keys.
  public var carriesLastValues: Bool

  public init(
    entry: OutboxEntry, firings: [StoredSubscription], carriesLastValues: Bool = false
  ) {
    self.entry = entry
    self.firings = firings
    self.carriesLastValues = carriesLastValues
  }
}

/// What one transaction of the dispatcher brought about.
public struct DispatchResult: Sendable {
  /// The entries written to the notification log.
  public var logged: [LogEntry]
  /// The deliveries that are now owed.
  public var deliveries: [Delivery]
  /// What subscribers did not get because they may not read the record.
  public var withheld: [WithheldNotification]

  public init(
    logged: [LogEntry] = [], deliveries: [Delivery] = [], withheld: [WithheldNotification] = []
  ) {
    self.logged = logged
    self.deliveries = deliveries
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
