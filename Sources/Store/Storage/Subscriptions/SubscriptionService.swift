import CloudKitModel
import SQLEngine
import StoreModel

/// The subscriptions of users, and the feed of their changes for servers that keep subscriptions in
/// memory.
public struct SubscriptionService: SubscriptionFeed {
  let transactions: Transactions

  /// Saves and deletes subscriptions of one user in one transaction. A failed operation does not
  /// affect the others. The zone of a subscription must exist. A desired key must fit the schema's
  /// field, if there is one.
  ///
  /// - Parameter refusesEqualContent: whether to refuse a subscription if the user has an equal
  ///   one with another ID, with ``ItemFailure/Code/exists``.
  /// - Returns: one outcome for each operation, in their order.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``StoreError/Code/notFound`` if there is no such database.
  public func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool = false, timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome] {
    try await transactions.write(locking: .database(database)) { transaction in
      var modifier = try SubscriptionModifier(
        subscriber: subscriber, database: database, refusesEqualContent: refusesEqualContent,
        timestamp: timestamp, transaction: transaction)
      return try operations.map { operation in
        switch operation {
        case .save(let subscription): try modifier.save(subscription)
        case .delete(let subscriptionID): try modifier.delete(subscriptionID)
        }
      }
    }
  }

  /// Returns a user's subscriptions in the order of their IDs.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  public func subscriptions(
    of subscriber: String, in database: DatabaseID
  ) async throws -> [Subscription] {
    try await transactions.read { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try SubscriptionTable(transaction: transaction).subscriptions(
        of: subscriber, in: database)
    }
  }

  /// The changes of subscriptions of the users of one part of a database, in the order of
  /// subscription versions (``StoredSubscription``).
  ///
  /// A call reads about `limit` saves and about `limit` deletions of the database, and always all
  /// changes of a version. A reader continues from ``SubscriptionChanges/position`` while
  /// ``SubscriptionChanges/moreComing`` is true. After the last call, the reader has the same
  /// subscriptions as the store, even if users changed some between the calls.
  public func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).changes(
        in: part, since: position, limit: max(1, limit))
    }
  }
}
