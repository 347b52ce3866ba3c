import CloudKitModel
import SQLEngine
import StoreModel

/// The service that saves and reads subscriptions. It also returns their changes to servers that
/// keep subscriptions in memory.
struct SubscriptionService: SubscriptionStore, SubscriptionFeed {
  let transactions: Transactions

  /// Saves and deletes subscriptions of one user, in one write under the lock of the database.
  ///
  /// - Returns: an outcome for each operation, in the same order. A failed operation does not
  ///   affect the others.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``StoreError/Code/notFound`` if there is no such database.
  func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool, timestamp: Timestamp
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
  func subscriptions(
    of subscriber: String, in database: DatabaseID
  ) async throws -> [Subscription] {
    try await transactions.read { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try SubscriptionTable(transaction: transaction).subscriptions(
        of: subscriber, in: database)
    }
  }

  /// Returns the subscriptions that were saved or deleted after a position, about `limit` of each.
  /// A limit below 1 counts as 1.
  ///
  /// - Parameter part: the database, or a part of its subscribers.
  func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).changes(
        in: part, since: position, limit: max(1, limit))
    }
  }
}
