import CloudKitModel
import StoreModel

extension SubscriptionModifier {
  /// Checks a query subscription against the schema: a fixed schema must have its type and fields,
  /// and the fields must have the indexes that the filters need.
  ///
  /// - Throws: ``ItemFailure/Code/invalid``, or ``ItemFailure/Code/notReady`` while an index is
  ///   being built.
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

  /// Adds the type of a subscription to the schema. A fixed environment must have it already.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` if the type was not deployed to a fixed environment;
  ///   ``LocksNeeded`` if it is new on a shared store.
  func settleType(of subscription: Subscription) throws {
    let type = SubscriptionType(of: subscription)
    let types = SubscriptionTypeTable(transaction: transaction)
    let place = ContainerPlace(container: address.container, environment: address.environment)
    guard SchemaRequirements(transaction: transaction).isFixed(address) else {
      if transaction.connection.isShared {
        // Checked first, since the type is almost always there.
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
