import CloudKitModel

/// That a user saved a subscription of one type with the ID of one of another type, which is gone.
struct ReplacedSubscription: Sendable, Hashable {
  var subscriptionID: String
  var former: Subscription.KindName
  var present: Subscription.KindName

  init(by subscription: Subscription, _ former: Subscription.KindName) {
    subscriptionID = subscription.subscriptionID
    self.former = former
    present = subscription.kind.name
  }
}
