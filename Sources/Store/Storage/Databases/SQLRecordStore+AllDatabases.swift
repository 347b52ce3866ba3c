import CloudKitModel
import StoreModel

// The statements that look at more than one database. Everything else names its database; on a
// store that is distributed by database these ask every shard.
extension SQLRecordStore {
  public func undispatchedDatabases() async throws -> [DatabaseID] {
    if isDistributed {
      return try await read { session in
        try session.connection.rows(
          "SELECT database_id FROM outbox GROUP BY database_id ORDER BY database_id", []
        ) { DatabaseID(rawValue: $0.integer(0)) }
        .filter { try session.hasUndispatchedChanges(in: $0) }
      }
    }
    // From each database of the outbox to the next, past the changes that are there.
    return try await read {
      try $0.connection.rows(
        """
        WITH RECURSIVE changed (database_id) AS (
          SELECT MIN(database_id) FROM outbox
          UNION ALL
          SELECT (
            SELECT MIN(outbox.database_id) FROM outbox
            WHERE outbox.database_id > changed.database_id)
          FROM changed WHERE changed.database_id IS NOT NULL)
        SELECT database_id FROM changed
        WHERE database_id IS NOT NULL
          AND (SELECT MAX(sequence) FROM outbox WHERE outbox.database_id = changed.database_id)
            > COALESCE((
              SELECT CASE WHEN settled_subscriber IS NULL THEN through ELSE through - 1 END
              FROM dispatches WHERE dispatches.database_id = changed.database_id
              ORDER BY through DESC LIMIT 1), -1)
        """, []
      ) { DatabaseID(rawValue: $0.integer(0)) }
    }
  }

  public func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery] {
    try await read { try DeliveryTable(session: $0).due(at: timestamp, limit: limit) }
  }

  public func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp? {
    try await read {
      try DeliveryTable(session: $0).nextTime(on: route, after: timestamp, for: holder)
    }
  }

  public func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute] {
    try await read { try PushRouteTable(session: $0).routes() }
  }

  public func refusedPushes(limit: Int) async throws -> [RefusedPush] {
    try await read { try RefusedPushTable(session: $0).newest(limit: limit) }
  }

  public func owedDeliveryCount() async throws -> Int {
    try await read { try DeliveryTable(session: $0).owedCount() }
  }
}

extension StoreSession {
  /// The databases of the recipient's container in which the user has ever had subscriptions, and so
  /// may have been notified.
  ///
  /// - Complexity: O(*d* log *n*) for *d* databases of all containers.
  func notifiedDatabases(of recipient: Recipient) throws -> [NotifiedDatabase] {
    try databases(ofSubscriber: recipient.userRecordName).compactMap { database in
      let number = SQLValue.integer(database.rawValue)
      let lastNumber = try connection.first(
        """
        SELECT last_number FROM databases
        WHERE database_id = $1 AND container = $2 AND environment = $3
        """, [number, .text(recipient.container), .text(recipient.environment.rawValue)]
      ) { $0.integer(0) }
      guard let lastNumber else { return nil }
      let trimmedThrough = try NotificationLogTable(session: self)
        .trimmedThrough(of: recipient.userRecordName, in: database)
      return NotifiedDatabase(
        id: database, trimmedThrough: trimmedThrough, lastNumber: lastNumber)
    }
  }

  /// The databases of all containers in which a user has ever had subscriptions, in the order of their
  /// numbers.
  func databases(ofSubscriber subscriber: String) throws -> [DatabaseID] {
    try connection.rows(
      "SELECT number FROM subscriber_databases WHERE subscriber = $1 ORDER BY number",
      [.text(subscriber)]
    ) { DatabaseID(rawValue: $0.integer(0)) }
  }
}
