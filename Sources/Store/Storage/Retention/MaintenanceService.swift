import CloudKitModel
import SQLEngine
import StoreModel

/// Times of retention.
enum Retention {
  /// For deletions of subscriptions. Also for finished deliveries, refused pushes and former
  /// devices, unless the notification log is kept for longer.
  static let milliseconds: Int64 = 30 * 24 * 60 * 60 * 1000
  /// For named requests: a day longer than clients repeat one.
  static let answeredRequests: Int64 = 8 * 24 * 60 * 60 * 1000
  /// The most rows deleted in one write, so that other writes do not wait long.
  static let batch: Int64 = 500
}

/// The background work of a server: it trims what has passed its retention, builds indexes and
/// deletes users.
struct MaintenanceService: Maintenance {
  let transactions: Transactions
  let configuration: StoreConfiguration
  let notificationLog: NotificationLogService
  let changeFeeds: ChangeFeedService
  let changeHistory: ChangeHistoryService
  let assets: AssetService
  let userDeletion: UserDeletionService
  let limits: StoreLimits?

  /// Deletes what has passed its retention: log entries and their marks beyond
  /// ``StoreConfiguration/notificationLog``, finished deliveries after 30 days or with the log,
  /// expired tokens, tombstones beyond ``StoreConfiguration/deletionRetention``, and assets that no
  /// record holds.
  ///
  /// It works in small writes, so that other writes do not wait. Deletions stay when a later one
  /// fails. A delivery is deleted with its log entry, finished or not.
  func trim(at timestamp: Timestamp) async throws {
    let horizon = timestamp.milliseconds - Retention.milliseconds
    let limits = configuration.notificationLog
    let oldestEntry = timestamp.advanced(bySeconds: -limits.age).milliseconds
    // Deliveries are kept as long as their log entries.
    let oldestOutcome = min(horizon, oldestEntry)
    try await notificationLog.fileNotifications()
    try await dropEntries { try NotificationLogTable(transaction: $0).old(before: oldestEntry) }
    let overfullLogs = try await transactions.read {
      try NotificationIndexTable(transaction: $0)
        .overfull(keeping: limits.entries, bytes: limits.bytes)
    }
    for cut in overfullLogs {
      try await dropEntries { try NotificationIndexTable(transaction: $0).entries(through: cut) }
    }
    try await dropMarks { try NotificationMarkTable(transaction: $0).old(before: oldestEntry) }
    let overfullMarks = try await transactions.read {
      try NotificationMarkTable(transaction: $0).overfull(keeping: limits.entries)
    }
    for cut in overfullMarks {
      try await dropMarks { try NotificationMarkTable(transaction: $0).marks(through: cut) }
    }
    try await transactions.inBatches(
      { try DeliveryTable(transaction: $0).old(before: oldestOutcome) },
      drop: { try DeliveryTable(transaction: $0).drop($1) })
    try await transactions.inBatches(
      { try RefusedPushTable(transaction: $0).old(before: oldestOutcome) },
      drop: { try RefusedPushTable(transaction: $0).drop($1) })
    while try await transactions.write(
      locking: .reference, { try DeviceTable(transaction: $0).trimGone(before: oldestOutcome) })
    {}
    try await changeHistory.trimChangeHistory(
      before: timestamp.advanced(bySeconds: -configuration.changeHistory.age))
    let oldestRequest = timestamp.milliseconds - Retention.answeredRequests
    try await transactions.inBatches(
      { try AnsweredRequestTable(transaction: $0).old(before: oldestRequest) },
      drop: { try AnsweredRequestTable(transaction: $0).forget($1) })
    let forgotten = try await transactions.read {
      try SubscriptionTable(transaction: $0).oldDeletions(before: horizon)
    }
    try await transactions.inEachDatabase(of: forgotten) {
      try SubscriptionTable(transaction: $0).forgetDeletions(through: $1)
    }
    try await dropExpiredTokens(at: timestamp.milliseconds)
    while try await transactions.write(
      locking: .reference,
      { try TakenSignatureTable(transaction: $0).trim(at: timestamp.milliseconds) }
    ) {}
    try await changeFeeds.trimChangeFeeds(
      before: timestamp.advanced(bySeconds: -configuration.deletionRetention))
    try await assets.trimAssets(at: timestamp)
    try await userDeletion.forgetDeletedUsers(at: timestamp)
    try await self.limits?.sweep()
  }

  func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion? {
    try await userDeletion.continueUserDeletion(at: timestamp)
  }
}

extension MaintenanceService {
  private func dropEntries(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await transactions.inBatches(find, drop: { try LogTrimming(in: $0).drop(entries: $1) })
  }

  private func dropMarks(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await transactions.inBatches(find, drop: { try LogTrimming(in: $0).drop(marks: $1) })
  }

  private func dropExpiredTokens(at now: Int64) async throws {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).dropExpired(at: now, ordering: &orders)
      try WebAuthTokenTable(transaction: transaction).dropExpired(at: now)
      try ConsoleSessionTable(transaction: transaction).dropExpired(at: now)
    }
  }
}

/// The newest forgotten change in a database.
struct ForgottenVersion: InDatabase {
  var database: DatabaseID
  var version: Int64

  init(row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    version = row.integer(1)
  }

  var arguments: [SQLValue] { [.integer(database.rawValue), .integer(version)] }
}
