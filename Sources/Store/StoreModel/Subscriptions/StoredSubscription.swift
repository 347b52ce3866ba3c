import CloudKitModel

/// A subscription with its owner, as the matching index needs it.
public struct StoredSubscription: Sendable, Hashable {
  /// The owner's user record name.
  public var subscriber: String
  public var subscription: Subscription
  /// The database's subscription version at which it was first saved. Changes committed at this
  /// version or later fire it.
  public var version: Int64

  public init(subscriber: String, subscription: Subscription, version: Int64) {
    self.subscriber = subscriber
    self.subscription = subscription
    self.version = version
  }
}

extension StoredSubscription {
  public var name: SubscriptionName {
    SubscriptionName(subscriber: subscriber, subscriptionID: subscription.subscriptionID)
  }
}

/// Identifies a subscription in a database.
public struct SubscriptionName: Sendable, Hashable {
  public var subscriber: String
  public var subscriptionID: String

  public init(subscriber: String, subscriptionID: String) {
    self.subscriber = subscriber
    self.subscriptionID = subscriptionID
  }
}
