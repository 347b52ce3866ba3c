import CloudKitModel

/// Writes what matched changes led to, in the writer's transaction.
struct DispatchCompletion {
  let timestamp: Timestamp
  let session: StoreSession
  private(set) var result = DispatchResult()
  private var supplies: [DatabaseID: NumberSupply] = [:]
  private var devices: [Recipient: [DeviceToken]] = [:]
  /// The version of the deletions of subscriptions that fire once.
  private var versions: [DatabaseID: Int64] = [:]
  private var entries = RowInsertion(insertingEntries)
  private var deliveries = RowInsertion(insertingDeliveries)

  private static let insertingEntries = RowInsertion.Statements(
    """
    INSERT INTO notification_log
      (database_id, sequence, subscriber, origin_device, logged, content, notification_id)
    """, argumentsEach: 7
  ) { first in (first..<first + 7).map { "$\($0)" }.joined(separator: ", ") }

  private static let insertingDeliveries = RowInsertion.Statements(
    """
    INSERT INTO deliveries
      (database_id, number, log_sequence, token, badge, due, updated, attempts, state)
    """, argumentsEach: 7
  ) { first in (first..<first + 7).map { "$\($0)" }.joined(separator: ", ") + ", 0, 0" }

  init(timestamp: Timestamp, session: StoreSession) {
    self.timestamp = timestamp
    self.session = session
  }

  /// Writes what each of the changes led to.
  mutating func complete(_ changes: [MatchedChange]) throws {
    result.logged.reserveCapacity(changes.reduce(0) { $0 + $1.firings.count })
    for change in changes { try complete(change) }
    try entries.finish(in: session.connection)
    try deliveries.finish(in: session.connection)
  }

  private mutating func complete(_ matched: MatchedChange) throws {
    guard try settle(matched) else { return }
    let entry = matched.entry
    let address = try session.address(of: entry.database)
    let isOpen = try matched.firings.isEmpty || isReadableByAll(entry.change, at: address)
    var change = NotifiedChange(
      entry.change, in: address, carriesLastValues: matched.carriesLastValues)
    for firing in matched.firings {
      // Before anything is used up: a subscription that fires once waits for what may be read.
      guard try isOpen || mayRead(firing, entry, at: address) else { continue }
      if firing.subscription.firesOnce {
        guard try consume(firing, in: entry.database) else { continue }
      }
      let (notification, content) = change.notification(for: firing)
      let sequence = try log(notification, content, in: entry.database)
      try owe(notification, loggedAs: sequence, in: entry.database)
      result.logged.append(
        LogEntry(
          database: entry.database, sequence: sequence, notification: notification,
          logged: timestamp))
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

  /// Whether every user may read the changed record, so that none of them need be asked about.
  private func isReadableByAll(_ change: Change, at address: DatabaseAddress) throws -> Bool {
    guard address.scope == .public, let record = change.record else { return true }
    let grants = try session.recordType(named: record.recordType, at: address)?.grants ?? .standard
    return RecordAccess(of: nil, roles: [RecordGrants.SystemRole.world], under: grants)
      .mayRead(record)
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
  private mutating func consume(
    _ firing: StoredSubscription, in database: DatabaseID
  ) throws -> Bool {
    let version = try versions[database] ?? session.raiseSubscriptionVersion(of: database)
    versions[database] = version
    return try session.deleteSubscription(
      firing.name, expecting: firing.subscription.storedContent, in: database, version: version,
      timestamp: timestamp)
  }

  /// Has an entry of the log written and answers its sequence.
  private mutating func log(
    _ notification: SubscriptionNotification, _ content: [UInt8], in database: DatabaseID
  ) throws -> Int64 {
    let sequence = try nextNumber(of: database)
    let madeBySubscriber = notification.change.userRecordName == notification.subscriber
    try entries.add(in: session.connection) { [timestamp] row in
      row.append(database.rawValue)
      row.append(sequence)
      row.append(notification.subscriber)
      row.append(madeBySubscriber ? notification.change.deviceID : nil)
      row.append(timestamp.milliseconds)
      row.append(bytes: content)
      withUnsafeBytes(of: notification.change.notificationID.uuid) { row.append(bytes: $0) }
    }
    return sequence
  }

  /// Makes the deliveries of a log entry.
  private mutating func owe(
    _ notification: SubscriptionNotification, loggedAs sequence: Int64, in database: DatabaseID
  ) throws {
    for device in try devices(of: notification) where !device.isOrigin(of: notification.change) {
      var badge: Int?
      if notification.subscription.notificationInfo?.shouldBadge == true {
        badge = try session.raiseBadge(of: device.token, kind: .apns)
      }
      let number = try nextNumber(of: database)
      try deliveries.add(in: session.connection) { [timestamp] row in
        row.append(database.rawValue)
        row.append(number)
        row.append(sequence)
        row.append(device.token)
        row.append(badge.map { Int64($0) })
        row.append(timestamp.milliseconds)
        row.append(timestamp.milliseconds)
      }
      if result.deliveries.isEmpty { result.deliveries.reserveCapacity(result.logged.capacity) }
      result.deliveries.append(
        Delivery(
          id: Delivery.ID(database: database, number: number), notification: notification,
          device: device, badge: badge, logged: timestamp, due: timestamp))
    }
  }

  /// The subscriber's devices with APNs in the notification's container whose tokens are alive.
  private mutating func devices(
    of notification: SubscriptionNotification
  ) throws -> [DeviceToken] {
    let recipient = Recipient(
      userRecordName: notification.subscriber, container: notification.database.container,
      environment: notification.database.environment)
    if let known = devices[recipient] { return known }
    let found = try session.connection.rows(
      """
      SELECT \(DeviceToken.columns) FROM device_tokens
      WHERE user_record_name = $1 AND kind = 'apns' AND container = $2 AND environment = $3
        AND (expires IS NULL OR expires > $4)
      ORDER BY token
      """,
      [
        .text(recipient.userRecordName), .text(recipient.container),
        .text(recipient.environment.rawValue), .integer(timestamp.milliseconds),
      ], DeviceToken.init(row:))
    devices[recipient] = found
    return found
  }

  private mutating func nextNumber(of database: DatabaseID) throws -> Int64 {
    var supply =
      try supplies[database] ?? NumberSupply(of: database, count: 16, from: session)
    defer { supplies[database] = supply }
    return try supply.take(from: session)
  }
}
