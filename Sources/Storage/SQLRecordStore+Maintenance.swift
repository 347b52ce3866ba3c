import CloudKitModel

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
    while try await write(locking: .reference, { try $0.trimLog(before: oldestEntry) }) {}
    for cut in try await read({ try $0.overfullLogs(keeping: limits.entries) }) {
      while try await write(locking: .reference, { try $0.trimLog(through: cut) }) {}
    }
    while try await write(locking: .reference, { try $0.trimMarks(before: oldestEntry) }) {}
    for cut in try await read({ try $0.overfullMarks(keeping: limits.entries) }) {
      while try await write(locking: .reference, { try $0.trimMarks(through: cut) }) {}
    }
    while try await write(locking: .reference, { try $0.trimDeliveries(before: oldestOutcome) }) {}
    while try await write(locking: .reference, { try $0.trimRefusedPushes(before: oldestOutcome) })
    {}
    while try await write(locking: .reference, { try $0.trimGoneDevices(before: oldestOutcome) }) {}
    try await trimChangeHistory(
      before: timestamp.advanced(bySeconds: -configuration.changeHistory.age))
    let oldestRequest = timestamp.milliseconds - Retention.answeredRequests
    while try await write(
      locking: .reference, { try $0.trimAnsweredRequests(before: oldestRequest) })
    {}
    try await write(locking: .reference) { try $0.forgetSubscriptionDeletions(before: horizon) }
    try await write(locking: .reference) { try $0.dropExpiredTokens(at: timestamp.milliseconds) }
    while try await write(
      locking: .reference, { try $0.trimSignatures(at: timestamp.milliseconds) })
    {}
    try await trimChangeFeeds(
      before: timestamp.advanced(bySeconds: -configuration.deletionRetention))
    try await trimAssets(at: timestamp)
    try await self.limits?.sweep()
  }
}

extension SQLRecordStore {
  /// Entries of the notification log that one write files.
  private static let filingBatch = 1_000

  /// Files the entries of the notification log that wait for it, as far as they do by now: what is
  /// dropped is found in the index.
  private func fileNotifications() async throws {
    guard let tail else { return }
    let generation = tail.generation
    while tail.hasUnfiled(through: generation) {
      try await write(locking: .rows) { $0.filingRequest = Self.filingBatch }
    }
  }
}

// These too look at all databases (see `SQLRecordStore+AllDatabases.swift`), but delete row by row
// under each database's own number and, where readers or savers depend on the rows, its lock. Those that work in batches return whether there may be more to do.
extension StoreSession {
  /// Drops finished deliveries that are old, and those whose log entry is gone.
  fileprivate func trimDeliveries(before horizon: Int64) throws -> Bool {
    let old = try connection.rows(
      """
      SELECT database_id, number FROM deliveries
      WHERE (state <> 0 AND updated < $1) OR NOT EXISTS (
        SELECT 1 FROM notification_log
        WHERE notification_log.database_id = deliveries.database_id
          AND notification_log.sequence = deliveries.log_sequence)
      LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)]
    ) { ($0.integer(0), $0.integer(1)) }
    for (database, number) in old {
      try connection.run(
        "DELETE FROM deliveries WHERE database_id = $1 AND number = $2",
        [.integer(database), .integer(number)])
    }
    return old.count == Int(Retention.batch)
  }

  /// Drops what was kept of pushes that APNs refused long ago.
  fileprivate func trimRefusedPushes(before horizon: Int64) throws -> Bool {
    let dropped = try connection.run(
      """
      DELETE FROM refused_pushes WHERE (database_id, number) IN (
        SELECT database_id, number FROM refused_pushes WHERE refused < $1 LIMIT $2)
      """, [.integer(horizon), .integer(Retention.batch)])
    return dropped == Int(Retention.batch)
  }

  /// Forgets old deletions of subscriptions: who asks from before them gets everything anew.
  fileprivate func forgetSubscriptionDeletions(before horizon: Int64) throws {
    let forgotten = try connection.rows(
      """
      SELECT database_id, MAX(version) FROM subscription_deletions WHERE deleted < $1
      GROUP BY database_id
      """, [.integer(horizon)]
    ) { ($0.integer(0), $0.integer(1)) }
    try require(.databases(forgotten.map { DatabaseID(rawValue: $0.0) }))
    for (database, version) in forgotten {
      let arguments: [SQLValue] = [.integer(database), .integer(version)]
      try connection.run(
        "DELETE FROM subscription_deletions WHERE database_id = $1 AND version <= $2", arguments)
      try connection.run(
        "UPDATE databases SET forgotten_version = $2 WHERE database_id = $1", arguments)
    }
  }

  fileprivate func dropExpiredTokens(at now: Int64) throws {
    for statement in [
      """
      DELETE FROM courier_cursors WHERE token IN (
        SELECT token FROM device_tokens WHERE kind = 'courier' AND expires <= $1)
      """,
      "DELETE FROM device_tokens WHERE expires <= $1",
      "DELETE FROM web_auth_tokens WHERE expires <= $1",
      "DELETE FROM console_sessions WHERE expires <= $1",
    ] {
      try connection.run(statement, [.integer(now)])
    }
  }
}
