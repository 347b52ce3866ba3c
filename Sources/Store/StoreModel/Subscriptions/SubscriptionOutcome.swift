import CloudKitModel

/// The outcome of one subscription operation.
public enum SubscriptionOutcome: Sendable, Hashable {
  /// - Parameter replaced: the kind of the subscription that had the ID before, if it was another
  ///   kind.
  case saved(Subscription, replaced: Subscription.KindName? = nil)
  case deleted(subscriptionID: String)
  case failed(subscriptionID: String, ItemFailure)
}
