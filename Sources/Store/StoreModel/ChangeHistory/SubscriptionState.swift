import CloudKitModel

/// The present state of a subscription.
public struct SubscriptionState: Sendable, Hashable {
  public var stored: StoredSubscription
  /// The database's subscription version at which it was last changed.
  public var changed: Int64

  package init(stored: StoredSubscription, changed: Int64) {
    self.stored = stored
    self.changed = changed
  }
}

/// A page of a database's subscriptions.
public struct SubscriptionStatePage: Sendable, Hashable {
  public var states: [SubscriptionState]
  /// The name after which there may be more subscriptions; nil at the end.
  public var next: SubscriptionName?

  package init(states: [SubscriptionState], next: SubscriptionName? = nil) {
    self.states = states
    self.next = next
  }
}

/// The deletion of a subscription.
public struct SubscriptionDeletion: Sendable, Hashable {
  /// The database's subscription version from the deletion on.
  public var version: Int64
  public var deleted: Timestamp

  package init(version: Int64, deleted: Timestamp) {
    self.version = version
    self.deleted = deleted
  }
}
