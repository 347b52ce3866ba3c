import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore: SubscriptionStore, SubscriptionFeed {
  public func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool, timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome] {
    try await write(locking: .database(database)) { transaction in
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

  public func subscriptions(
    of subscriber: String, in database: DatabaseID
  ) async throws -> [Subscription] {
    try await read { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try SubscriptionTable(transaction: transaction).subscriptions(
        of: subscriber, in: database)
    }
  }

  public func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await read {
      try SubscriptionTable(transaction: $0).changes(
        in: part, since: position, limit: max(1, limit))
    }
  }
}
