import CloudKitModel
import Foundation
import StoreModel

extension SQLRecordStore {
  public func notifications(
    ofChange change: PastChange, subscriber: String?, limit: Int
  ) async throws -> [PastNotification] {
    let notificationID = change.change.notificationID
    return try await read { session in
      let log = NotificationLogTable(session: session)
      let sequences =
        if let subscriber {
          try NotificationIndexTable(session: session)
            .sequences(of: notificationID, for: subscriber, behind: change, limit: limit)
        } else {
          try log.sequences(of: notificationID, behind: change, limit: limit)
        }
      return try sequences.compactMap { try log.entry($0, in: change.database) }
        .map { try PastNotification($0, in: session) }
    }
  }

  public func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [PastNotification] {
    try await read { session in
      var found: [PastNotification] = []
      let log = NotificationLogTable(session: session)
      let entries = try NotificationIndexTable(session: session)
        .latestSequences(of: name.subscriber, in: database)
      for sequence in entries where found.count < limit {
        let (entry, _) = try log.entry(sequence, of: name.subscriber, in: database)
        guard entry.notification.subscription.subscriptionID == name.subscriptionID else {
          continue
        }
        found.append(try PastNotification(entry, in: session))
      }
      return found
    }
  }

  public func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry? {
    try await read { try NotificationLogTable(session: $0).entry(ofDelivery: id) }
  }

  public func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState? {
    try await read {
      try $0.connection.first(
        """
        SELECT subscriber, first_version, version, content FROM subscriptions
        WHERE database_id = $1 AND subscriber = $2 AND subscription_id = $3
        """,
        [.integer(database.rawValue), .text(name.subscriber), .text(name.subscriptionID)],
        SubscriptionState.init(row:))
    }
  }

  public func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion? {
    try await read {
      try $0.connection.first(
        """
        SELECT version, deleted FROM subscription_deletions
        WHERE database_id = $1 AND subscriber = $2 AND subscription_id = $3
        """,
        [.integer(database.rawValue), .text(name.subscriber), .text(name.subscriptionID)]
      ) { row in
        SubscriptionDeletion(
          version: row.integer(0), deleted: Timestamp(milliseconds: row.integer(1)))
      }
    }
  }

  public func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage {
    let limit = max(1, limit)
    return try await read { session in
      let end =
        subscriptionID != nil && subscriber == nil
        ? try session.subscriptionName(50 * limit, behind: name, in: database) : nil
      // With one subscriber only the ID is a range: SQLite would walk the whole index otherwise.
      let range =
        subscriber == nil
        ? "(subscriber, subscription_id) > ($2, $3)" : "subscriber = $2 AND subscription_id > $3"
      let lastID =
        subscriber == nil || name?.subscriber == subscriber ? name?.subscriptionID : nil
      var arguments: [SQLValue] = [
        .integer(database.rawValue), .text(subscriber ?? name?.subscriber ?? ""),
        .text(lastID ?? ""), SQLValue(subscriptionID), .integer(Int64(limit)),
      ]
      if let end { arguments += [.text(end.subscriber), .text(end.subscriptionID)] }
      let states = try session.connection.rows(
        """
        SELECT subscriber, first_version, version, content FROM subscriptions
        WHERE database_id = $1 AND \(range) AND subscription_id = COALESCE($4, subscription_id)
          \(end == nil ? "" : "AND (subscriber, subscription_id) <= ($6, $7)")
        ORDER BY subscriber, subscription_id LIMIT $5
        """, arguments, SubscriptionState.init(row:))
      return SubscriptionStatePage(
        states: states, next: states.count == limit ? states.last?.stored.name : end)
    }
  }

  public func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod] {
    try await read { try DeviceTable(session: $0).periods(of: recipient) }
  }
}

extension SubscriptionState {
  fileprivate init(row: any SQLRow) throws {
    self.init(
      stored: StoredSubscription(
        subscriber: row.text(0), subscription: try Subscription(stored: row.bytes(3)),
        version: row.integer(1)),
      changed: row.integer(2))
  }
}

extension StoreSession {
  /// The name of the subscription so many places behind another one; nil when there are fewer.
  fileprivate func subscriptionName(
    _ count: Int, behind name: SubscriptionName?, in database: DatabaseID
  ) throws -> SubscriptionName? {
    try connection.first(
      """
      SELECT subscriber, subscription_id FROM subscriptions
      WHERE database_id = $1 AND (subscriber, subscription_id) > ($2, $3)
      ORDER BY subscriber, subscription_id LIMIT 1 OFFSET $4
      """,
      [
        .integer(database.rawValue), .text(name?.subscriber ?? ""),
        .text(name?.subscriptionID ?? ""), .integer(Int64(count - 1)),
      ]
    ) { SubscriptionName(subscriber: $0.text(0), subscriptionID: $0.text(1)) }
  }
}

extension PastNotification {
  /// An entry with its deliveries, which have the numbers right behind it, before the next entry's.
  fileprivate init(_ entry: LogEntry, in session: StoreSession) throws {
    let log = NotificationLogTable(session: session)
    let next = try log.sequence(after: entry.sequence, in: entry.database)
    self.init(
      entry: entry,
      deliveries: try DeliveryTable(session: session)
        .pastDeliveries(ofEntry: entry.sequence, before: next ?? .max, in: entry.database),
      unsent: try log.unsentDeliveries(ofEntry: entry.sequence, in: entry.database))
  }
}
