import CloudKitModel

/// The replacement of a subscription by a subscription of another type with the same ID.
///
/// It happens if an app uses one ID for two subscriptions, so the server writes a warning to its
/// log.
struct ReplacedSubscription: Sendable, Hashable {
  /// The ID that both subscriptions have.
  var subscriptionID: String
  /// The type of the subscription that was replaced.
  var former: Subscription.KindName
  /// The type of the subscription that was saved.
  var present: Subscription.KindName

  /// Creates the report of a replacement.
  ///
  /// - Parameters:
  ///   - subscription: the saved subscription.
  ///   - former: the type of the subscription that was replaced.
  init(by subscription: Subscription, _ former: Subscription.KindName) {
    subscriptionID = subscription.subscriptionID
    self.former = former
    present = subscription.kind.name
  }
}
