import CloudKitModel

/// The subscriptions of users.
public protocol SubscriptionStore: Sendable {
  /// Saves and deletes subscriptions of one user in one transaction. A failed operation does not
  /// affect the others. A zone that a subscription names must exist. If the schema has the field of
  /// a desired key, the key is checked against the field.
  ///
  /// - Parameter refusesEqualContent: whether to refuse a subscription if the user has an equal
  ///   subscription with another ID. The failure has the code ``ItemFailure/Code/exists``.
  /// - Returns: one outcome for each operation, in their order.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``StoreError/Code/notFound`` if there is no such database.
  func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool, timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome]
  /// Returns a user's subscriptions in the order of their IDs.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func subscriptions(of subscriber: String, in database: DatabaseID) async throws -> [Subscription]
}

extension SubscriptionStore {
  /// Saves and deletes subscriptions of one user. Equal subscriptions with different IDs are
  /// accepted.
  public func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome] {
    try await modifySubscriptions(
      operations, of: subscriber, in: database, refusesEqualContent: false, timestamp: timestamp)
  }
}
