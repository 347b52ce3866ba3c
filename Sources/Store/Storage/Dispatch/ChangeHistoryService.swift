import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The history of dispatched changes and their notifications, kept for explanations.
///
/// Operators use it to answer questions such as "Why did this device get no push for this change?".
/// All methods read, except ``trimChangeHistory(before:)``, which deletes old changes.
struct ChangeHistoryService: ChangeHistoryStore {
  let transactions: Transactions

  /// Returns the notifications that a change fired, with their deliveries.
  ///
  /// - Parameters:
  ///   - change: a dispatched change.
  ///   - subscriber: the user whose notifications are returned; nil for all users.
  ///   - limit: the most notifications returned.
  func notifications(
    ofChange change: PastChange, subscriber: String?, limit: Int
  ) async throws -> [PastNotification] {
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
        .map { try PastNotification($0, in: transaction) }
    }
  }

  /// Returns the latest notifications that a subscription fired, with their deliveries.
  ///
  /// The method goes through the latest log entries of the subscriber, so a subscription that fires
  /// rarely may have older entries that are not found.
  func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [PastNotification] {
    try await transactions.read { transaction in
      var found: [PastNotification] = []
      let log = NotificationLogTable(transaction: transaction)
      let entries = try NotificationIndexTable(transaction: transaction)
        .latestSequences(of: name.subscriber, in: database)
      for sequence in entries where found.count < limit {
        let (entry, _) = try log.entry(sequence, of: name.subscriber, in: database)
        guard entry.notification.subscription.subscriptionID == name.subscriptionID else {
          continue
        }
        found.append(try PastNotification(entry, in: transaction))
      }
      return found
    }
  }

  /// Returns the log entry of a delivery; nil if either is gone.
  func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry? {
    try await transactions.read { try NotificationLogTable(transaction: $0).entry(ofDelivery: id) }
  }

  /// Returns a subscription with its versions; nil if it does not exist.
  func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState? {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).state(of: name, in: database)
    }
  }

  /// Returns the deletion of a subscription; nil if none is kept.
  func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion? {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).deletion(of: name, in: database)
    }
  }

  /// Returns a page of a database's subscriptions with their versions, in the order of subscribers
  /// and IDs.
  ///
  /// - Parameters:
  ///   - subscriptionID: the ID that the subscriptions have; nil for all IDs.
  ///   - subscriber: the user who saved them; nil for all users.
  ///   - name: the subscription before the page; nil for the first page.
  func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).states(
        withID: subscriptionID, of: subscriber, in: database, after: name, limit: max(1, limit))
    }
  }

  /// Returns the periods during which a recipient had devices, present and former ones.
  func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod] {
    try await transactions.read { try DeviceTable(transaction: $0).periods(of: recipient) }
  }
}

extension PastNotification {
  /// An entry with its deliveries, which are numbered after it and before the next entry.
  fileprivate init(_ entry: LogEntry, in transaction: StoreTransaction) throws {
    let log = NotificationLogTable(transaction: transaction)
    let next = try log.sequence(after: entry.sequence, in: entry.database)
    self.init(
      entry: entry,
      deliveries: try DeliveryTable(transaction: transaction)
        .pastDeliveries(ofEntry: entry.sequence, before: next ?? .max, in: entry.database),
      unsent: try log.unsentDeliveries(ofEntry: entry.sequence, in: entry.database))
  }
}
