import CloudKitModel
import StoreModel

extension SubscriptionModifier {
  /// Checks a query subscription against the schema: its type and fields must be there where it is
  /// fixed, and the fields marked for what the filters ask.
  func checkSchema(of query: Query, in subscription: Subscription) throws {
    guard
      let type = try RecordTypeTable(transaction: transaction).type(
        named: query.recordType, at: address)
    else {
      try SchemaRequirements(transaction: transaction).requireType(
        named: query.recordType, at: address,
        "subscription '\(subscription.subscriptionID)' cannot be saved")
      return
    }
    try SchemaRequirements(transaction: transaction).requireIndexes(
      for: query, in: type, at: address)
  }

  /// Records the type of a subscription, or refuses one that was not deployed.
  func settleType(of subscription: Subscription) throws {
    let type = SubscriptionType(of: subscription)
    let types = SubscriptionTypeTable(transaction: transaction)
    let place = ContainerPlace(container: address.container, environment: address.environment)
    guard SchemaRequirements(transaction: transaction).isFixed(address) else {
      if transaction.connection.isShared {
        // Others may be about to record the same: nearly always it is there.
        if try types.contains(type, at: place) { return }
        try transaction.require(.reference)
      }
      try types.insert(type, at: place)
      return
    }
    if try types.contains(type, at: place) { return }
    throw SchemaRequirements(transaction: transaction).missing(
      "the subscription type '\(type)'", at: address, field: "subscriptionType",
      "subscription '\(subscription.subscriptionID)' cannot be saved")
  }
}
