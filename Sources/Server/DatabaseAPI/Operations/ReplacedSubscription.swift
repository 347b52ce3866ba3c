import CloudKitModel

/// The replacement of a subscription by a subscription of another type with the same ID.
///
/// It happens if an app uses one ID for two subscriptions, so the server writes a warning to its
/// log.
struct ReplacedSubscription: Sendable, Hashable {
  var subscriptionID: String
  /// The type of the subscription that was replaced.
  var former: Subscription.KindName
  /// The type of the subscription that was saved.
  var present: Subscription.KindName

  init(by subscription: Subscription, _ former: Subscription.KindName) {
    subscriptionID = subscription.subscriptionID
    self.former = former
    present = subscription.kind.name
  }
}
