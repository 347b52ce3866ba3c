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
    // Deliveries are kept as long as their entry is.
    let oldestOutcome = min(horizon, oldestEntry)
    try await fileNotifications()
    try await dropEntries { try NotificationLogTable(transaction: $0).old(before: oldestEntry) }
    let overfullLogs = try await read {
      try NotificationIndexTable(transaction: $0)
        .overfull(keeping: limits.entries, bytes: limits.bytes)
    }
    for cut in overfullLogs {
      try await dropEntries { try NotificationIndexTable(transaction: $0).entries(through: cut) }
    }
    try await dropMarks { try NotificationMarkTable(transaction: $0).old(before: oldestEntry) }
    let overfullMarks = try await read {
      try NotificationMarkTable(transaction: $0).overfull(keeping: limits.entries)
    }
    for cut in overfullMarks {
      try await dropMarks { try NotificationMarkTable(transaction: $0).marks(through: cut) }
    }
    try await inBatches(
      { try DeliveryTable(transaction: $0).old(before: oldestOutcome) },
      drop: { try DeliveryTable(transaction: $0).drop($1) })
    try await inBatches(
      { try RefusedPushTable(transaction: $0).old(before: oldestOutcome) },
      drop: { try RefusedPushTable(transaction: $0).drop($1) })
    while try await write(
      locking: .reference, { try DeviceTable(transaction: $0).trimGone(before: oldestOutcome) })
    {}
    try await trimChangeHistory(
      before: timestamp.advanced(bySeconds: -configuration.changeHistory.age))
    let oldestRequest = timestamp.milliseconds - Retention.answeredRequests
    try await inBatches(
      { try AnsweredRequestTable(transaction: $0).old(before: oldestRequest) },
      drop: { try AnsweredRequestTable(transaction: $0).forget($1) })
    let forgotten = try await read {
      try SubscriptionTable(transaction: $0).oldDeletions(before: horizon)
    }
    try await inEachDatabase(of: forgotten) {
      try SubscriptionTable(transaction: $0).forgetDeletions(through: $1)
    }
    try await dropExpiredTokens(at: timestamp.milliseconds)
    while try await write(
      locking: .reference,
      { try TakenSignatureTable(transaction: $0).trim(at: timestamp.milliseconds) }
    ) {}
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
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await inBatches(find, drop: { try LogTrimming(in: $0).drop(entries: $1) })
  }

  private func dropMarks(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await inBatches(find, drop: { try LogTrimming(in: $0).drop(marks: $1) })
  }

  private func dropExpiredTokens(at now: Int64) async throws {
    try await writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).dropExpired(at: now, ordering: &orders)
      try WebAuthTokenTable(transaction: transaction).dropExpired(at: now)
      try ConsoleSessionTable(transaction: transaction).dropExpired(at: now)
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
