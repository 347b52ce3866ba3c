import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Outcomes

extension DeliveryTable {
  /// Returns the number of merged older deliveries. A delivery with a final state stays as it is.
  func apply(_ update: DeliveryUpdate) throws -> Int {
    var mergedCount = 0
    let key: [SQLValue] = [
      .id(update.id.database), .integer(update.id.number),
    ]
    let now = SQLValue.time(update.timestamp)
    switch update.state {
    case .delivered(let mergeKey):
      try finish(key, in: .delivered, reason: nil, at: now)
      if let mergeKey { mergedCount = try merge(key, with: mergeKey, at: now) }
    case .abandoned(let reason):
      try finish(key, in: .abandoned, reason: reason, at: now)
    case .merged(let newer):
      try finish(key, in: .merged, reason: nil, at: now, attempts: 0, mergedInto: newer)
    case .refused(let reason, let payload):
      let isOwed = try finish(key, in: .refused, reason: reason, at: now)
      guard isOwed else { break }
      try RefusedPushTable(transaction: transaction)
        .add(update.id, payload: payload, at: update.timestamp)
    case .retry(let due, let reason, let wasSent):
      try putOff(key, until: due, reason: reason, at: now, attempts: wasSent ? 1 : 0)
    case .postponed(let due, let reason):
      try putOff(key, until: due, reason: reason, at: now, attempts: 0)
    }
    return mergedCount
  }

  @discardableResult
  private func finish(
    _ key: [SQLValue], in state: DeliveryState, reason: String?, at now: SQLValue,
    attempts: Int64 = 1, mergedInto newer: Int64? = nil
  ) throws -> Bool {
    try connection.run(
      sql.outcomes.finish,
      key + [.integer(state.rawValue), SQLValue(reason), now, .integer(attempts), SQLValue(newer)])
      == 1
  }

  private func putOff(
    _ key: [SQLValue], until due: Timestamp, reason: String, at now: SQLValue, attempts: Int64
  ) throws {
    try decide(
      sql.outcomes.putOff, key + [.time(due), .text(reason), now, .integer(attempts)])
  }

  /// Merges older waiting deliveries. A leased one may be on its way, so it is not merged.
  private func merge(
    _ key: [SQLValue], with mergeKey: DeliveryMergeKey, at now: SQLValue
  ) throws -> Int {
    try connection.run(
      sql.outcomes.merge,
      key + [.integer(DeliveryState.merged.rawValue), now, .text(mergeKey.text)])
  }

  /// - Complexity: O(*n*), where *n* is the number of the database's stored deliveries.
  func abandon(
    ofZone zoneID: ZoneID, in database: DatabaseID, reason: String, at timestamp: Timestamp
  ) throws {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    let waiting = try connection.rows(sql.outcomes.waiting, [.id(database)]) { row in
      let notification = try SubscriptionNotification(
        stored: row.bytes(2), database: address, subscriber: row.text(1))
      return (number: row.integer(0), zoneID: notification.change.zoneID)
    }
    for delivery in waiting where delivery.zoneID == zoneID {
      try finish(
        [.id(database), .integer(delivery.number)], in: .abandoned, reason: reason,
        at: .time(timestamp), attempts: 0)
    }
  }

  // MARK: When a device's registration changes

  /// The token is `$2`, the container `$3` and the environment `$4`.
  private static let isToDevice = """
    device = (
      SELECT device FROM device_numbers WHERE token = $2 AND container = $3 AND environment = $4)
    """

  /// The device's next user may already have deliveries to it. The statement compares the users of
  /// the log entries, so these stay.
  func abandon(
    toDevice device: DeviceName, of userRecordName: String, in database: DatabaseID, reason: String,
    at timestamp: Timestamp
  ) throws {
    try decide(
      sql.outcomes.abandon,
      [
        .id(database), .text(device.token), .text(device.container),
        .text(device.environment.rawValue), .text(userRecordName),
        .integer(DeliveryState.abandoned.rawValue), .text(reason), .time(timestamp),
      ])
  }

  /// Changes nothing if the token has no number in `device_numbers` (``DeviceTable``).
  func move(
    toDevice device: DeviceName, in database: DatabaseID, to route: DeliveryRoute.ID
  ) throws {
    try decide(
      sql.outcomes.move,
      [
        .id(database), .text(device.token), .text(device.container),
        .text(device.environment.rawValue), .integer(route.rawValue),
      ])
  }

  struct OutcomesStatements {
    let finish: Statement = """
      UPDATE deliveries SET state = $3, reason = $4, updated = $5, attempts = attempts + $6,
        merged_into = $7
      WHERE database_id = $1 AND number = $2 AND state = 0
      """
    let putOff: Statement = """
      UPDATE deliveries SET due = $3, reason = $4, updated = $5, attempts = attempts + $6,
        leased_by = NULL
      WHERE database_id = $1 AND number = $2 AND state = 0
      """
    let merge: Statement = """
      UPDATE deliveries SET state = $3, updated = $4, merged_into = $2
      WHERE database_id = $1 AND number < $2 AND state = 0 AND leased_by IS NULL
        AND merge_key = $5
        AND device = (SELECT device FROM deliveries WHERE database_id = $1 AND number = $2)
      """
    let waiting: Statement = """
      SELECT deliveries.number, notification_log.subscriber, notification_log.content
      FROM deliveries
      JOIN notification_log ON notification_log.database_id = deliveries.database_id
        AND notification_log.sequence = deliveries.log_sequence
      WHERE deliveries.database_id = $1 AND deliveries.state = 0
      """
    let abandon: Statement = """
      UPDATE deliveries SET state = $6, reason = $7, updated = $8
      WHERE database_id = $1 AND \(DeliveryTable.isToDevice) AND state = 0 AND EXISTS (
        SELECT 1 FROM notification_log
        WHERE notification_log.database_id = $1
          AND notification_log.sequence = deliveries.log_sequence AND subscriber = $5)
      """
    let move: Statement = """
      UPDATE deliveries SET route = $5
      WHERE database_id = $1 AND \(DeliveryTable.isToDevice) AND state = 0 AND route <> $5
      """
  }
}
