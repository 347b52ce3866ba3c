import CloudKitModel
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

/// The present state of a subscription with the versions of its changes.
///
/// A database has a *subscription version*: a number that rises with each transaction that saves or
/// deletes subscriptions. Each outbox entry (``OutboxEntry``) has the version at its commit. A
/// comparison of the entry's version with those of a subscription shows whether the subscription
/// existed when the record changed.
public struct SubscriptionState: Sendable, Hashable {
  /// The subscription, with the version at which it was first saved.
  public var stored: StoredSubscription
  /// The database's subscription version at which the subscription was last saved.
  public var changed: Int64
}

/// A page of a database's subscriptions.
public struct SubscriptionStatePage: Sendable, Hashable {
  /// The subscriptions, in the order of subscribers and IDs.
  public var states: [SubscriptionState]
  /// The name to pass for the next page, which may be empty; nil at the end.
  public var next: SubscriptionName?
}

/// The deletion of a subscription. The store deletes this information after 30 days.
public struct SubscriptionDeletion: Sendable, Hashable {
  /// The subscription version at the deletion. Changes with it or a later one do not fire the
  /// subscription.
  public var version: Int64
  /// The time of the deletion.
  public var deleted: Timestamp
}
