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
  /// The databases of the recipient's container in which the user has been notified: those with
  /// entries of the user's log, and those that had some which were trimmed.
  ///
  /// - Complexity: O(*d* *r* log *n*) for *d* databases of all containers and *r* runs of the index.
  func notifiedDatabases(of recipient: Recipient) throws -> [NotifiedDatabase] {
    let subscriber = SQLValue.text(recipient.userRecordName)
    var trimmedThrough: [Int64: Int64] = [:]
    try connection.query(
      "SELECT database_id, trimmed_through FROM trimmed_logs WHERE subscriber = $1", [subscriber]
    ) { trimmedThrough[$0.integer(0)] = $0.integer(1) }
    for row in try unfiledRows(of: recipient.userRecordName) {
      trimmedThrough[row.database.rawValue, default: 0] += 0
    }
    var last = Int64.min
    while let next = try logAfter(last, of: subscriber) {
      trimmedThrough[next, default: 0] += 0
      last = next
    }
    return try trimmedThrough.sorted { $0.key < $1.key }.compactMap { database, trimmedThrough in
      try connection.first(
        """
        SELECT last_number FROM databases
        WHERE database_id = $1 AND container = $2 AND environment = $3
        """,
        [
          .integer(database), .text(recipient.container),
          .text(recipient.environment.rawValue),
        ]
      ) {
        NotifiedDatabase(
          id: DatabaseID(rawValue: database), trimmedThrough: trimmedThrough,
          lastNumber: $0.integer(0))
      }
    }
  }

  /// The next database that has filed entries of a user's log.
  private func logAfter(_ database: Int64, of subscriber: SQLValue) throws -> Int64? {
    try connection.first(
      """
      SELECT MIN((
        SELECT database_id FROM notification_index
        WHERE notification_index.run = notification_runs.run
          AND subscriber = $1 AND database_id > $2
        ORDER BY database_id LIMIT 1))
      FROM notification_runs
      """, [subscriber, .integer(database)]
    ) { $0.optionalInteger(0) } ?? nil
  }
}
