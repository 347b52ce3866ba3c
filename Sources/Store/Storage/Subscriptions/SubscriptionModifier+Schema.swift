import CloudKitModel

extension SubscriptionModifier {
  /// Checks a query subscription against the schema: its type and fields must be there where it is
  /// fixed, and the fields marked for what the filters ask.
  func checkSchema(of query: Query, in subscription: Subscription) throws {
    guard let type = try session.recordType(named: query.recordType, at: address) else {
      try session.requireType(
        named: query.recordType, at: address,
        "subscription '\(subscription.subscriptionID)' cannot be saved")
      return
    }
    try session.requireIndexes(for: query, in: type, at: address)
  }

  /// Records the type of a subscription, or refuses one that was not deployed.
  func settleType(of subscription: Subscription) throws {
    let type = SubscriptionType(of: subscription)
    guard session.isFixed(address) else {
      if session.connection.isShared {
        // Others may be about to record the same: nearly always it is there.
        if try isKnown(type) { return }
        try session.require(.reference)
      }
      try type.insert(
        container: address.container, environment: address.environment.rawValue,
        through: session.connection)
      return
    }
    if try isKnown(type) { return }
    throw session.missing(
      "the subscription type '\(type)'", at: address, field: "subscriptionType",
      "subscription '\(subscription.subscriptionID)' cannot be saved")
  }

  private func isKnown(_ type: SubscriptionType) throws -> Bool {
    try session.connection.first(
      """
      SELECT 1 FROM subscription_types WHERE container = $1 AND environment = $2
        AND record_type = $3 AND events = $4 AND fields = $5
      """, type.columns(container: address.container, environment: address.environment.rawValue)
    ) { _ in true } ?? false
  }
}
