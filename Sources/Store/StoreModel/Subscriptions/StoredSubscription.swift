import CloudKitModel

/// A subscription with its owner, as the matching index needs it.
///
/// The version prevents that a new subscription fires for earlier changes. Each change of a
/// database's subscriptions raises the database's subscription version, and each outbox entry has
/// the version at its commit.
public struct StoredSubscription: Sendable, Hashable {
  /// The owner's user record name.
  public var subscriber: String
  /// The subscription as the client saved it.
  public var subscription: Subscription
  /// The database's subscription version at which it was first saved. Changes committed at this
  /// version or later fire it.
  public var version: Int64

  /// Creates a stored subscription from the parts of its row.
  public init(subscriber: String, subscription: Subscription, version: Int64) {
    self.subscriber = subscriber
    self.subscription = subscription
    self.version = version
  }
}

extension StoredSubscription {
  /// The identity of the subscription in its database.
  public var name: SubscriptionName {
    SubscriptionName(subscriber: subscriber, subscriptionID: subscription.subscriptionID)
  }
}

/// The identity of a subscription in a database. Two users may have subscriptions with the same ID.
public struct SubscriptionName: Sendable, Hashable {
  /// The owner's user record name.
  public var subscriber: String
  /// The ID that the client chose.
  public var subscriptionID: String

  /// Names a subscription, which need not exist.
  public init(subscriber: String, subscriptionID: String) {
    self.subscriber = subscriber
    self.subscriptionID = subscriptionID
  }
}
