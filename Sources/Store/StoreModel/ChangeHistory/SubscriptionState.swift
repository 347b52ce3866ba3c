import CloudKitModel

/// The present state of a subscription with the versions of its changes.
///
/// Each change of a database's subscriptions raises the database's subscription version. An outbox
/// entry has the version at its commit. The comparison of both says whether a subscription existed
/// when a record changed.
public struct SubscriptionState: Sendable, Hashable {
  /// The subscription, with the version at which it was first saved.
  public var stored: StoredSubscription
  /// The database's subscription version at which it was last changed.
  public var changed: Int64

  /// Creates a state from a subscription's row.
  package init(stored: StoredSubscription, changed: Int64) {
    self.stored = stored
    self.changed = changed
  }
}

/// A page of a database's subscriptions.
public struct SubscriptionStatePage: Sendable, Hashable {
  /// The subscriptions, in the order of subscribers and IDs.
  public var states: [SubscriptionState]
  /// The name after which there may be more subscriptions; nil at the end.
  public var next: SubscriptionName?

  /// Creates a page, by default the last one.
  package init(states: [SubscriptionState], next: SubscriptionName? = nil) {
    self.states = states
    self.next = next
  }
}

/// The deletion of a subscription, as long as the store keeps it.
public struct SubscriptionDeletion: Sendable, Hashable {
  /// The database's subscription version from the deletion on.
  public var version: Int64
  /// The time of the deletion.
  public var deleted: Timestamp

  /// Creates a deletion from its row.
  package init(version: Int64, deleted: Timestamp) {
    self.version = version
    self.deleted = deleted
  }
}
