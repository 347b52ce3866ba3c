import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The history behind explanations: dispatched changes and their notifications.
struct ChangeHistoryService: ChangeHistoryStore {
  let transactions: Transactions

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

  func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry? {
    try await transactions.read { try NotificationLogTable(transaction: $0).entry(ofDelivery: id) }
  }

  func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState? {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).state(of: name, in: database)
    }
  }

  func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion? {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).deletion(of: name, in: database)
    }
  }

  func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage {
    try await transactions.read {
      try SubscriptionTable(transaction: $0).states(
        withID: subscriptionID, of: subscriber, in: database, after: name, limit: max(1, limit))
    }
  }

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
