extension Subscription {
  /// Checks that the subscription may be saved in a database of this scope.
  ///
  /// Query subscriptions work in the public and private databases. Record-zone subscriptions work
  /// in the custom zones of the private database, because the default zone there has no change
  /// feed. Database subscriptions work in the private and shared databases. Only query
  /// subscriptions may have desired keys.
  ///
  /// - Throws: ``ModelError`` for the first mistake, mostly with
  ///   ``ModelError/Code/invalidSubscription``. For a wrong scope, the reason names a kind of
  ///   subscription that works in this scope.
  public func validate(in scope: DatabaseScope) throws(ModelError) {
    guard !subscriptionID.isEmpty else {
      throw ModelError(
        .invalidSubscription, field: "subscriptionID", "subscriptionID must not be empty")
    }
    guard subscriptionID.utf8.count <= ServiceLimits.nameLength else {
      throw ModelError(
        .invalidSubscription, field: "subscriptionID",
        "subscriptionID has \(subscriptionID.utf8.count) bytes; the limit is \(ServiceLimits.nameLength)"
      )
    }
    switch kind {
    case .query(let query, let zoneID, let options):
      try require(scope != .shared, "a query subscription", "a database subscription", scope)
      guard !options.isDisjoint(with: .events) else {
        throw ModelError(
          .invalidSubscription, field: "firesOn",
          "subscription '\(subscriptionID)' fires on no event; choose create, update or delete")
      }
      try zoneID?.validate()
      try query.validate()
    case .recordZone(let zoneID, let recordType):
      try require(
        scope == .private, "a record-zone subscription",
        scope == .public ? "a query subscription" : "a database subscription", scope)
      try zoneID.validate()
      guard !zoneID.isDefaultZone else {
        throw ModelError(
          .invalidSubscription, field: "zoneID",
          "the default zone has no change feed, so a record-zone subscription cannot watch it; "
            + "use a custom zone or a query subscription")
      }
      if let recordType { try Identifier.validateRecordType(recordType) }
      try refuseDesiredKeys(of: "a record-zone subscription")
    case .database(let recordType):
      try require(scope != .public, "a database subscription", "a query subscription", scope)
      if let recordType { try Identifier.validateRecordType(recordType) }
      try refuseDesiredKeys(of: "a database subscription")
    }
    try notificationInfo?.validate()
  }

  /// Throws the error for a wrong scope unless `allowed` is true.
  ///
  /// - Parameters:
  ///   - kind: The words for the refused kind of subscription.
  ///   - alternative: The words for a kind that works in the scope.
  private func require(
    _ allowed: Bool, _ kind: String, _ alternative: String, _ scope: DatabaseScope
  ) throws(ModelError) {
    guard !allowed else { return }
    throw ModelError(
      .invalidSubscription, field: "subscriptionType",
      "\(kind) does not work in the \(scope.pathComponent) database; use \(alternative) there")
  }

  /// Throws an error when the notification info has desired keys. `kind` is the kind of
  /// subscription in words, for the error.
  private func refuseDesiredKeys(of kind: String) throws(ModelError) {
    guard notificationInfo?.desiredKeys?.isEmpty ?? true else {
      throw ModelError(
        .invalidSubscription, field: "desiredKeys", "\(kind) cannot have desiredKeys")
    }
  }
}
