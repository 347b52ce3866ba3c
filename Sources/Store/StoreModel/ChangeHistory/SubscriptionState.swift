import CloudKitModel

/// The present state of a subscription with the versions of its changes.
///
/// A database has a *subscription version*: a number that rises with each transaction that saves or
/// deletes subscriptions. Each outbox entry (``OutboxEntry``) has the version at its commit. A
/// comparison of the entry's version with those of a subscription shows whether the subscription
/// existed when the record changed.
public struct SubscriptionState: Sendable, Hashable {
  /// The subscription, with the version at which it was first saved.
  public var stored: StoredSubscription
  /// The database's subscription version at which the subscription was last saved.
  public var changed: Int64

  package init(stored: StoredSubscription, changed: Int64) {
    self.stored = stored
    self.changed = changed
  }
}

/// A page of a database's subscriptions.
public struct SubscriptionStatePage: Sendable, Hashable {
  /// The subscriptions, in the order of subscribers and IDs.
  public var states: [SubscriptionState]
  /// The name to pass for the next page, which may be empty; nil at the end.
  public var next: SubscriptionName?

  package init(states: [SubscriptionState], next: SubscriptionName? = nil) {
    self.states = states
    self.next = next
  }
}

/// The deletion of a subscription. The store deletes this information after 30 days.
public struct SubscriptionDeletion: Sendable, Hashable {
  /// The subscription version at the deletion. Changes with it or a later one do not fire the
  /// subscription.
  public var version: Int64
  /// The time of the deletion.
  public var deleted: Timestamp

  package init(version: Int64, deleted: Timestamp) {
    self.version = version
    self.deleted = deleted
  }
}
