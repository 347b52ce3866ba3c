import CloudKitModel

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
