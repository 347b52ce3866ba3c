import CloudKitModel

/// The subscriptions of users.
public protocol SubscriptionStore: Sendable {
  /// Saves and deletes subscriptions of one user, and returns one outcome for each operation in
  /// their order. A failed operation does not affect the others. Desired keys are checked against
  /// the schema if it has the field. A zone that a subscription names must exist.
  ///
  /// - Parameter refusesEqualContent: whether to refuse, with ``ItemFailure/Code/exists``, a
  ///   subscription that has the same content as one of the user's subscriptions with a different
  ///   ID.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently.
  func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool, timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome]
  /// Returns a user's subscriptions in the order of their IDs.
  func subscriptions(of subscriber: String, in database: DatabaseID) async throws -> [Subscription]
}

extension SubscriptionStore {
  /// Saves and deletes subscriptions of one user; subscriptions with equal contents are accepted.
  public func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome] {
    try await modifySubscriptions(
      operations, of: subscriber, in: database, refusesEqualContent: false, timestamp: timestamp)
  }
}
