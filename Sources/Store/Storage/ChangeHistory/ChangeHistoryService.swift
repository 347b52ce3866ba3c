import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The history of dispatched changes and their notifications.
///
/// A change is dispatched when the notifications of all subscriptions that it fires are in the log.
/// Operators use the history to answer questions such as "Why did this device get no push for this
/// change?".
///
/// All methods read, except ``trimChangeHistory(before:)``, which deletes old changes.
struct ChangeHistoryService: ChangeHistoryStore {
  let transactions: Transactions

  /// Returns the notifications that a change fired, with their deliveries, in the order of the log.
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
  /// The newest notification comes first. The method examines only the latest 2,000 log entries of
  /// the subscriber in the database. Older entries of a subscription that fires rarely are not
  /// found.
  ///
  /// - Parameter limit: the most notifications returned.
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

  /// Returns the log entry of a delivery; nil if the delivery or the entry was deleted.
  func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry? {
    try await transactions.read { try NotificationLogTable(transaction: $0).entry(ofDelivery: id) }
  }

  /// Returns a subscription with its versions; nil if there is no such subscription.
  func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState? {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).state(of: name, in: database)
    }
  }

  /// Returns the deletion of a subscription; nil if the store has no record of a deletion.
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
  ///   - subscriber: the user who saved the subscriptions; nil for all users.
  ///   - name: the last subscription of the previous page; nil for the first page.
  ///   - limit: the most subscriptions returned; a number below 1 counts as 1.
  func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).states(
        withID: subscriptionID, of: subscriber, in: database, after: name, limit: max(1, limit))
    }
  }

  /// Returns the periods during which the recipient's present and former devices were registered.
  func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod] {
    try await transactions.read { try DeviceTable(transaction: $0).periods(of: recipient) }
  }
}

extension PastNotification {
  /// Creates the past notification of a log entry, with the entry's deliveries. The numbers of the
  /// deliveries are between those of this entry and of the next entry.
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
