/// One operation on one subscription (`subscriptions/modify`).
public enum SubscriptionOperation: Sendable, Hashable {
  /// Replaces a subscription of the same ID.
  case save(Subscription)
  case delete(subscriptionID: String)
}
