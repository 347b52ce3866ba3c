import CloudKitModel
import StoreModel

extension SubscriptionModifier {
  /// Checks a query subscription against the schema: its type and fields must be there where it is
  /// fixed, and the fields marked for what the filters ask.
  func checkSchema(of query: Query, in subscription: Subscription) throws {
    guard
      let type = try RecordTypeTable(session: session).type(named: query.recordType, at: address)
    else {
      try SchemaRequirements(session: session).requireType(
        named: query.recordType, at: address,
        "subscription '\(subscription.subscriptionID)' cannot be saved")
      return
    }
    try SchemaRequirements(session: session).requireIndexes(for: query, in: type, at: address)
  }

  /// Records the type of a subscription, or refuses one that was not deployed.
  func settleType(of subscription: Subscription) throws {
    let type = SubscriptionType(of: subscription)
    let types = SubscriptionTypeTable(session: session)
    let place = ContainerPlace(container: address.container, environment: address.environment)
    guard SchemaRequirements(session: session).isFixed(address) else {
      if session.connection.isShared {
        // Others may be about to record the same: nearly always it is there.
        if try types.contains(type, at: place) { return }
        try session.require(.reference)
      }
      try types.insert(type, at: place)
      return
    }
    if try types.contains(type, at: place) { return }
    throw SchemaRequirements(session: session).missing(
      "the subscription type '\(type)'", at: address, field: "subscriptionType",
      "subscription '\(subscription.subscriptionID)' cannot be saved")
  }
}
