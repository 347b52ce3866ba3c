import CloudKitModel

/// The subscriptions of users.
public protocol SubscriptionStore: Sendable {
  /// Saves and deletes subscriptions of one user. Desired keys are checked against the schema where
  /// it knows the field; a zone that a subscription names must exist.
  ///
  /// - Parameter refusesEqualContent: whether a subscription that watches for the same as another of
  ///   the user's with a different ID is refused with ``ItemFailure/Code/exists``.
  func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool, timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome]
  /// A user's subscriptions in order of their IDs.
  func subscriptions(of subscriber: String, in database: DatabaseID) async throws -> [Subscription]
}

extension SubscriptionStore {
  /// Saves and deletes subscriptions of one user, equal ones too.
  public func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome] {
    try await modifySubscriptions(
      operations, of: subscriber, in: database, refusesEqualContent: false, timestamp: timestamp)
  }
}
