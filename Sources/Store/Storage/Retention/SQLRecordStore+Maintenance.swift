import CloudKitModel
import SQLEngine
import StoreModel

/// How long things are kept.
enum Retention {
  /// Deletions of subscriptions; finished deliveries, refused pushes and devices that are gone, where
  /// the notification log is not kept for longer.
  static let milliseconds: Int64 = 30 * 24 * 60 * 60 * 1000
  /// Named requests: a day longer than clients repeat one.
  static let answeredRequests: Int64 = 8 * 24 * 60 * 60 * 1000
  /// Rows that are deleted in one write, so that others need not wait long.
  static let batch: Int64 = 500
}

extension SQLRecordStore {
  /// Drops what is beyond its retention: log entries and their marks beyond
  /// ``StoreConfiguration/notificationLog``, finished deliveries after 30 days or with the log, tokens
  /// that have expired, deletions beyond ``StoreConfiguration/deletionRetention``, and assets that
  /// nobody holds.
  ///
  /// It works in small writes, so that others are not held up; what it dropped stays dropped when a
  /// later one fails. A delivery goes with its log entry, finished or not.
  public func trim(at timestamp: Timestamp) async throws {
    let horizon = timestamp.milliseconds - Retention.milliseconds
    let limits = configuration.notificationLog
    let oldestEntry = timestamp.advanced(bySeconds: -limits.age).milliseconds
    // What became of an entry is told as long as the entry is there.
    let oldestOutcome = min(horizon, oldestEntry)
    try await fileNotifications()
    try await dropEntries { try $0.entries(before: oldestEntry) }
    for cut in try await read({ try $0.overfullLogs(keeping: limits.entries, bytes: limits.bytes) })
    {
      try await dropEntries { try $0.entries(through: cut) }
    }
    try await dropMarks { try $0.marks(before: oldestEntry) }
    for cut in try await read({ try $0.overfullMarks(keeping: limits.entries) }) {
      try await dropMarks { try $0.marks(through: cut) }
    }
    try await inBatches(
      { try $0.oldDeliveries(before: oldestOutcome) },
      drop: { try $0.drop(deliveries: $1) })
    try await inBatches(
      { try $0.oldRefusedPushes(before: oldestOutcome) },
      drop: { try $0.drop(refusedPushes: $1) })
    while try await write(locking: .reference, { try $0.trimGoneDevices(before: oldestOutcome) }) {}
    try await trimChangeHistory(
      before: timestamp.advanced(bySeconds: -configuration.changeHistory.age))
    let oldestRequest = timestamp.milliseconds - Retention.answeredRequests
    try await inBatches(
      { try AnsweredRequestTable(session: $0).old(before: oldestRequest) },
      drop: { try AnsweredRequestTable(session: $0).forget($1) })
    let forgotten = try await read {
      try SubscriptionTable(session: $0).oldDeletions(before: horizon)
    }
    try await inEachDatabase(of: forgotten) {
      try SubscriptionTable(session: $0).forgetDeletions(through: $1)
    }
    try await dropExpiredTokens(at: timestamp.milliseconds)
    while try await write(
      locking: .reference, { try $0.trimSignatures(at: timestamp.milliseconds) })
    {}
    try await trimChangeFeeds(
      before: timestamp.advanced(bySeconds: -configuration.deletionRetention))
    try await trimAssets(at: timestamp)
    try await forgetDeletedUsers(at: timestamp)
    try await self.limits?.sweep()
  }
}

extension SQLRecordStore {
  /// Entries of the notification log that one write files.
  private static let filingBatch = 1_000

  /// Files the entries of the notification log that wait for it, as far as they do by now: what is
  /// dropped is found in the index.
  func fileNotifications() async throws {
    guard let tail else { return }
    let generation = tail.generation
    while tail.hasUnfiled(through: generation) {
      try await write(locking: .rows) { $0.filingRequest = Self.filingBatch }
    }
  }
}

extension SQLRecordStore {
  private func dropEntries(
    _ find: @escaping @Sendable (StoreSession) throws -> [TrimmedChange]
  ) async throws {
    try await inBatches(find, drop: { try $0.drop(entries: $1) })
  }

  private func dropMarks(
    _ find: @escaping @Sendable (StoreSession) throws -> [TrimmedChange]
  ) async throws {
    try await inBatches(find, drop: { try $0.drop(marks: $1) })
  }

  private func dropExpiredTokens(at now: Int64) async throws {
    try await writeDevices { session, orders in
      let readers = try session.connection.rows(
        """
        DELETE FROM device_tokens WHERE kind = 'courier' AND expires <= $1
        RETURNING token, user_record_name
        """, [.integer(now)]
      ) { (token: $0.text(0), user: $0.text(1)) }
      orders += readers.map {
        DeliveryOrder(token: $0.token, userRecordName: $0.user, action: .forgetReading)
      }
      try session.rememberGoneDevices(
        where: "expires <= $1", [.integer(now)], at: Timestamp(milliseconds: now),
        because: "it expired")
      for statement in [
        "DELETE FROM device_tokens WHERE expires <= $1",
        "DELETE FROM web_auth_tokens WHERE expires <= $1",
        "DELETE FROM console_sessions WHERE expires <= $1",
      ] {
        try session.connection.run(statement, [.integer(now)])
      }
    }
  }
}

/// The newest change in a database of those that are forgotten.
struct ForgottenVersion: InDatabase {
  var database: DatabaseID
  var version: Int64

  init(row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    version = row.integer(1)
  }

  var arguments: [SQLValue] { [.integer(database.rawValue), .integer(version)] }
}

// These too look at all databases (see `SQLRecordStore+AllDatabases.swift`), but delete row by row
// under each database's own number and, where readers or savers depend on the rows, its lock.
extension StoreSession {
  /// Finished deliveries that are old, and those whose log entry is gone.
  fileprivate func oldDeliveries(before horizon: Int64) throws -> [Delivery.ID] {
    try connection.rows(
      """
      SELECT database_id, number FROM deliveries
      WHERE (state <> 0 AND updated < $1) OR NOT EXISTS (
        SELECT 1 FROM notification_log
        WHERE notification_log.database_id = deliveries.database_id
          AND notification_log.sequence = deliveries.log_sequence)
      LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)], Delivery.ID.init(row:))
  }

  fileprivate func drop(deliveries ids: [Delivery.ID]) throws -> Int {
    for (database, ids) in Dictionary(grouping: ids, by: \.database) {
      try delete(
        "DELETE FROM deliveries WHERE database_id = $1 AND number IN",
        [.integer(database.rawValue)], numbers: ids.map(\.number))
    }
    return ids.count
  }

  /// What was kept of pushes that APNs refused long ago.
  fileprivate func oldRefusedPushes(before horizon: Int64) throws -> [Delivery.ID] {
    try connection.rows(
      "SELECT database_id, number FROM refused_pushes WHERE refused < $1 LIMIT $2",
      [.integer(horizon), .integer(Retention.batch)], Delivery.ID.init(row:))
  }

  fileprivate func drop(refusedPushes ids: [Delivery.ID]) throws -> Int {
    for (database, ids) in Dictionary(grouping: ids, by: \.database) {
      try delete(
        "DELETE FROM refused_pushes WHERE database_id = $1 AND number IN",
        [.integer(database.rawValue)], numbers: ids.map(\.number))
    }
    return ids.count
  }
}
