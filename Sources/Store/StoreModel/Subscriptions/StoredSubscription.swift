import CloudKitModel

/// A subscription with its owner, as the matching index needs it.
///
/// A database has a *subscription version*: a number that rises with each transaction that saves or
/// deletes subscriptions. Each committed change has the version at its commit (``OutboxEntry``). By
/// the versions, a new subscription does not fire for earlier changes.
public struct StoredSubscription: Sendable, Hashable {
  /// The owner's user record name.
  public var subscriber: String
  /// The subscription as the client saved it.
  public var subscription: Subscription
  /// The subscription version at which the subscription was first saved. Only changes with it or a
  /// later one can fire the subscription.
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

  /// Creates the identity of a subscription. The subscription need not exist.
  public init(subscriber: String, subscriptionID: String) {
    self.subscriber = subscriber
    self.subscriptionID = subscriptionID
  }
}

/// The outcome of one subscription operation.
public enum SubscriptionOutcome: Sendable, Hashable {
  /// The subscription was saved. It may have replaced the user's subscription with the same ID.
  ///
  /// - Parameter replaced: the kind of the replaced subscription, if the new subscription is of
  ///   another kind; otherwise nil.
  case saved(Subscription, replaced: Subscription.KindName? = nil)
  case deleted(subscriptionID: String)
  case failed(subscriptionID: String, ItemFailure)
}
