import CloudKitModel

/// Writes what matched changes led to, in the writer's transaction.
struct DispatchCompletion {
  let timestamp: Timestamp
  let session: StoreSession
  private(set) var result = DispatchResult()
  private var supplies: [DatabaseID: NumberSupply] = [:]
  private var devices: [Recipient: [String]] = [:]

  init(timestamp: Timestamp, session: StoreSession) {
    self.timestamp = timestamp
    self.session = session
  }

  mutating func complete(_ matched: MatchedChange) throws {
    let entry = matched.entry
    guard try settle(matched) else { return }
    let address = try session.address(of: entry.database)
    for firing in matched.firings {
      // Before anything is used up: a subscription that fires once waits for what may be read.
      guard try mayRead(firing, entry, at: address) else { continue }
      if firing.subscription.firesOnce {
        guard try consume(firing, in: entry.database) else { continue }
      }
      let notification = SubscriptionNotification(
        database: address, subscriber: firing.subscriber, subscription: firing.subscription,
        change: entry.change, carriesLastValues: matched.carriesLastValues
      ).trimmed()
      let logged = try log(notification, in: entry.database)
      result.logged.append(logged)
      try owe(logged)
    }
  }

  /// Takes the change out of the outbox, or notes there how far it is settled; false when the outbox
  /// does not have it as it was told.
  private func settle(_ matched: MatchedChange) throws -> Bool {
    let entry = matched.entry
    let before: [SQLValue] = [
      .integer(entry.database.rawValue), .integer(entry.sequence),
      SQLValue(entry.settledThrough?.subscriber), SQLValue(entry.settledThrough?.subscriptionID),
    ]
    if matched.isWhole {
      return try session.connection.run(
        """
        DELETE FROM outbox WHERE database_id = $1 AND sequence = $2
          AND settled_subscriber IS NOT DISTINCT FROM $3
          AND settled_subscription IS NOT DISTINCT FROM $4
        """, before) == 1
    }
    guard let last = matched.firings.last?.name else { return false }
    return try session.connection.run(
      """
      UPDATE outbox SET settled_subscriber = $5, settled_subscription = $6
      WHERE database_id = $1 AND sequence = $2
        AND settled_subscriber IS NOT DISTINCT FROM $3
        AND settled_subscription IS NOT DISTINCT FROM $4
      """, before + [.text(last.subscriber), .text(last.subscriptionID)]) == 1
  }

  /// Whether the subscriber may read the changed record now; a notification that is withheld is told
  /// in the result.
  private mutating func mayRead(
    _ firing: StoredSubscription, _ entry: OutboxEntry, at address: DatabaseAddress
  ) throws -> Bool {
    guard let record = entry.change.record else { return true }
    let access = try session.access(
      of: firing.subscriber, toType: record.recordType, at: address)
    if access.mayRead(record) { return true }
    result.withheld.append(
      WithheldNotification(
        database: entry.database, subscriber: firing.subscriber,
        subscriptionID: firing.subscription.subscriptionID,
        notificationID: entry.change.notificationID,
        reason: "no role of \(firing.subscriber) has READ for record '\(record.recordID)' of type "
          + "'\(record.recordType)'"))
    return false
  }

  /// Deletes a `firesOnce` subscription; false when it is gone, or is another by now.
  private func consume(_ firing: StoredSubscription, in database: DatabaseID) throws -> Bool {
    let name = SubscriptionName(
      subscriber: firing.subscriber, subscriptionID: firing.subscription.subscriptionID)
    let version = try session.raiseSubscriptionVersion(of: database)
    return try session.deleteSubscription(
      name, expecting: firing.subscription.storedContent, in: database, version: version,
      timestamp: timestamp)
  }

  private mutating func log(
    _ notification: SubscriptionNotification, in database: DatabaseID
  ) throws -> LogEntry {
    let sequence = try nextNumber(of: database)
    let change = notification.change
    let madeBySubscriber = change.userRecordName == notification.subscriber
    try session.connection.run(
      """
      INSERT INTO notification_log
        (database_id, sequence, subscriber, origin_device, logged, content, notification_id)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      """,
      [
        .integer(database.rawValue), .integer(sequence), .text(notification.subscriber),
        SQLValue(madeBySubscriber ? change.deviceID : nil), .integer(timestamp.milliseconds),
        .bytes(notification.storedContent), .bytes(change.notificationID.storedBytes),
      ])
    try session.connection.run(
      """
      INSERT INTO subscriber_databases (database_id, subscriber) VALUES ($1, $2)
      ON CONFLICT (database_id, subscriber) DO NOTHING
      """, [.integer(database.rawValue), .text(notification.subscriber)])
    return LogEntry(
      database: database, sequence: sequence, notification: notification, logged: timestamp)
  }

  /// Makes the deliveries of a log entry.
  private mutating func owe(_ logged: LogEntry) throws {
    let notification = logged.notification
    let change = notification.change
    for token in try tokens(of: notification) {
      guard var device = try session.deviceToken(token, kind: .apns)?.device,
        !device.isOrigin(of: change)
      else { continue }
      var badge: Int?
      if notification.subscription.notificationInfo?.shouldBadge == true {
        badge = try session.raiseBadge(of: token, kind: .apns)
      }
      device.token = token
      let number = try nextNumber(of: logged.database)
      try session.connection.run(
        """
        INSERT INTO deliveries
          (database_id, number, log_sequence, token, badge, due, attempts, state, updated)
        VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $6)
        """,
        [
          .integer(logged.database.rawValue), .integer(number), .integer(logged.sequence),
          .text(token), SQLValue(badge.map { Int64($0) }), .integer(timestamp.milliseconds),
        ])
      result.deliveries.append(
        Delivery(
          id: Delivery.ID(database: logged.database, number: number), notification: notification,
          device: device, badge: badge, logged: timestamp, due: timestamp))
    }
  }

  /// The subscriber's APNs tokens in the notification's container that are alive.
  private mutating func tokens(of notification: SubscriptionNotification) throws -> [String] {
    let recipient = Recipient(
      userRecordName: notification.subscriber, container: notification.database.container,
      environment: notification.database.environment)
    if let known = devices[recipient] { return known }
    let tokens = try session.connection.rows(
      """
      SELECT token FROM device_tokens
      WHERE user_record_name = $1 AND kind = 'apns' AND container = $2 AND environment = $3
        AND (expires IS NULL OR expires > $4)
      ORDER BY token
      """,
      [
        .text(recipient.userRecordName), .text(recipient.container),
        .text(recipient.environment.rawValue), .integer(timestamp.milliseconds),
      ]
    ) { $0.text(0) }
    devices[recipient] = tokens
    return tokens
  }

  private mutating func nextNumber(of database: DatabaseID) throws -> Int64 {
    var supply =
      try supplies[database] ?? NumberSupply(of: database, count: 16, from: session)
    defer { supplies[database] = supply }
    return try supply.take(from: session)
  }
}
