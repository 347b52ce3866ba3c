import Foundation
import StoreModel

/// The history of dispatched changes and their effects, for questions such as "Why did this device
/// get no push for this change?". ``ChangeHistoryLimits`` says how long changes stay.
public struct ChangeHistoryService: Sendable {
  let transactions: Transactions

  /// Returns the notifications of a change, in the order of the log.
  ///
  /// - Parameter subscriber: nil returns the notifications of all users.
  public func notifications(ofChange change: PastChange, subscriber: String?, limit: Int)
    async throws -> [LoggedPush]
  {
    let notificationID = change.change.notificationID
    return try await transactions.read { transaction in
      let log = NotificationLogTable(transaction: transaction)
      let sequences =
        if let subscriber {
          try NotificationIndexTable(transaction: transaction)
            .sequences(of: notificationID, for: subscriber, behind: change, limit: limit)
        } else {
          try log.sequences(of: notificationID, behind: change, limit: limit)
        }
      return try sequences.compactMap { try log.entry($0, in: change.database) }
        .map { try LoggedPush($0, in: transaction) }
    }
  }

  /// Returns the latest notifications of one subscription, newest first, among the subscriber's
  /// latest 2,000 notifications in the database.
  public func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [LoggedPush] {
    try await transactions.read { transaction in
      var found: [LoggedPush] = []
      let log = NotificationLogTable(transaction: transaction)
      let entries = try NotificationIndexTable(transaction: transaction)
        .latestSequences(of: name.subscriber, in: database)
      for sequence in entries where found.count < limit {
        let (entry, _) = try log.entry(sequence, of: name.subscriber, in: database)
        guard entry.notification.subscription.subscriptionID == name.subscriptionID else {
          continue
        }
        found.append(try LoggedPush(entry, in: transaction))
      }
      return found
    }
  }

  /// Returns the notification of a delivery; nil if the store has deleted the delivery or the
  /// notification.
  public func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry? {
    try await transactions.read { try NotificationLogTable(transaction: $0).entry(ofDelivery: id) }
  }

  /// Returns a subscription with its versions.
  public func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState? {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).state(of: name, in: database)
    }
  }

  /// Returns the deletion of a subscription, if the store still has the row of the deletion.
  public func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion? {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).deletion(of: name, in: database)
    }
  }

  /// Returns a page of a database's subscriptions, in the order of subscribers and IDs.
  ///
  /// - Parameters:
  ///   - subscriptionID: nil for all IDs.
  ///   - subscriber: nil for all users.
  ///   - limit: the most subscriptions returned. With an ID and without a subscriber, a call
  ///     examines at most 50 × `limit` subscriptions.
  public func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).states(
        withID: subscriptionID, of: subscriber, in: database, after: name, limit: max(1, limit))
    }
  }

  /// Returns the periods during which the user's devices were registered for notifications of a
  /// container, in the order of kinds, tokens and beginnings.
  ///
  /// The store keeps a period for 30 days after its end, or as long as the notification log if that
  /// is longer. For a reader of the web courier, it has only the present registration.
  public func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod] {
    try await transactions.read { try DeviceTable(transaction: $0).periods(of: recipient) }
  }
}
