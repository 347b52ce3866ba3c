import CloudKitModel

// The statements that look at more than one database. Everything else names its database; on a
// store that is distributed by database these ask every shard.
extension SQLRecordStore {
  public func undispatchedDatabases() async throws -> [DatabaseID] {
    try await read {
      try $0.connection.rows(
        "SELECT DISTINCT database_id FROM outbox ORDER BY database_id", []
      ) { DatabaseID(rawValue: $0.integer(0)) }
    }
  }

  public func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery] {
    try await read { session in
      let rows = try session.connection.rows(
        """
        SELECT \(DeviceToken.columns), deliveries.database_id, deliveries.number,
          deliveries.badge, deliveries.attempts, deliveries.due, notification_log.subscriber,
          notification_log.logged, notification_log.content
        FROM deliveries
        JOIN notification_log ON notification_log.database_id = deliveries.database_id
          AND notification_log.sequence = deliveries.log_sequence
        JOIN device_tokens ON device_tokens.kind = 'apns'
          AND device_tokens.token = deliveries.token
        WHERE deliveries.state = 0 AND deliveries.due <= $1
        ORDER BY deliveries.due, deliveries.database_id, deliveries.number LIMIT $2
        """,
        [.integer(timestamp.milliseconds), .integer(Int64(max(0, limit)))], DueRow.init)
      return try rows.map { try $0.delivery(in: session) }
    }
  }

  public func nextDeliveryTime(after timestamp: Timestamp) async throws -> Timestamp? {
    try await read {
      try $0.connection.first(
        "SELECT due FROM deliveries WHERE state = 0 AND due > $1 ORDER BY due LIMIT 1",
        [.integer(timestamp.milliseconds)]
      ) { Timestamp(milliseconds: $0.integer(0)) }
    }
  }
}

/// A row of a delivery that is due.
private struct DueRow {
  var device: DeviceToken
  var id: Delivery.ID
  var badge: Int?
  var attempts: Int
  var due: Timestamp
  var subscriber: String
  var logged: Timestamp
  var content: [UInt8]

  init(_ row: any SQLRow) throws {
    let first = DeviceToken.columnCount
    device = try DeviceToken(row: row)
    id = Delivery.ID(
      database: DatabaseID(rawValue: row.integer(first)), number: row.integer(first + 1))
    badge = row.optionalInteger(first + 2).map { Int($0) }
    attempts = Int(row.integer(first + 3))
    due = Timestamp(milliseconds: row.integer(first + 4))
    subscriber = row.text(first + 5)
    logged = Timestamp(milliseconds: row.integer(first + 6))
    content = row.bytes(first + 7)
  }

  func delivery(in session: StoreSession) throws -> Delivery {
    let notification = try SubscriptionNotification(
      stored: content, database: try session.address(of: id.database), subscriber: subscriber)
    return Delivery(
      id: id, notification: notification, device: device, badge: badge, logged: logged,
      attempts: attempts, due: due)
  }
}

extension StoreSession {
  /// The databases of the recipient's container in which the user has been notified.
  func notifiedDatabases(of recipient: Recipient) throws -> [NotifiedDatabase] {
    try connection.rows(
      """
      SELECT databases.database_id, subscriber_databases.trimmed_through, databases.last_number
      FROM subscriber_databases
      JOIN databases ON databases.database_id = subscriber_databases.database_id
      WHERE subscriber_databases.subscriber = $1 AND databases.container = $2
        AND databases.environment = $3
      ORDER BY databases.database_id
      """,
      [
        .text(recipient.userRecordName), .text(recipient.container),
        .text(recipient.environment.rawValue),
      ]
    ) {
      NotifiedDatabase(
        id: DatabaseID(rawValue: $0.integer(0)), trimmedThrough: $0.integer(1),
        lastNumber: $0.integer(2))
    }
  }
}
