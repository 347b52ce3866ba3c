import CloudKitModel
import StoreModel

extension SubscriptionModifier {
  /// The filters' fields must have the indexes that the filters need. In a fixed environment
  /// (``StoreContext/fixedEnvironments``), the record type and the fields must exist.
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

  /// Adds a missing type to the schema. A fixed environment (``StoreContext/fixedEnvironments``)
  /// must have it already.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` if the type was not deployed to a fixed environment;
  ///   ``LocksNeeded`` if the type is new and the transaction of a shared store does not have the
  ///   reference lock.
  func settleType(of subscription: Subscription) throws {
    let type = SubscriptionType(of: subscription)
    let types = SubscriptionTypeTable(transaction: transaction)
    let place = ContainerPlace(container: address.container, environment: address.environment)
    guard SchemaRequirements(transaction: transaction).isFixed(address) else {
      if transaction.connection.isShared {
        // The lookup comes before the lock, since the type is almost always there.
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
