import CloudKitModel

/// The outcome of one subscription operation.
public enum SubscriptionOutcome: Sendable, Hashable {
  /// The subscription was saved. It may have replaced the user's subscription with the same ID.
  ///
  /// - Parameter replaced: the kind of the replaced subscription, if the new subscription is of
  ///   another kind; otherwise nil.
  case saved(Subscription, replaced: Subscription.KindName? = nil)
  /// The subscription was deleted.
  case deleted(subscriptionID: String)
  /// The store refused the operation.
  case failed(subscriptionID: String, ItemFailure)
}
