/// One operation on one subscription (`subscriptions/modify`).
public enum SubscriptionOperation: Sendable, Hashable {
  /// Saves a subscription. It replaces a subscription with the same ID.
  case save(Subscription)
  /// Deletes the subscription with this ID.
  case delete(subscriptionID: String)
}
