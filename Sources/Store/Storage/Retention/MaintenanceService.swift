import CloudKitModel
import SQLEngine
import StoreModel

/// The times of retention that are not configurable.
enum Retention {
  /// The retention of deletions of subscriptions: 30 days. It is also that of finished deliveries,
  /// refused pushes and former devices, unless the notification log is kept for longer.
  static let milliseconds: Int64 = 30 * 24 * 60 * 60 * 1000
  /// The retention of named requests: 8 days, one more than clients repeat a request.
  static let answeredRequests: Int64 = 8 * 24 * 60 * 60 * 1000
  /// The most rows deleted in one write, so that other writes do not wait long.
  static let batch: Int64 = 500
}

/// The background work of a server: it deletes rows that have passed their retention, builds
/// indexes and deletes users.
struct MaintenanceService: Maintenance {
  let transactions: Transactions
  let configuration: StoreConfiguration
  let notificationLog: NotificationLogService
  let changeFeeds: ChangeFeedService
  let changeHistory: ChangeHistoryService
  let assets: AssetService
  let userDeletion: UserDeletionService
  /// The limits that servers count together; nil if one server uses the store alone.
  let limits: StoreLimits?

  /// Deletes what has passed its retention, in this order:
  ///
  /// 1. log entries and their marks beyond ``StoreConfiguration/notificationLog``
  /// 2. finished deliveries, refused pushes and former devices, after 30 days or with the log
  /// 3. dispatched changes beyond ``StoreConfiguration/changeHistory``
  /// 4. named requests, deletions of subscriptions, expired tokens and sessions
  /// 5. tombstones beyond ``StoreConfiguration/deletionRetention``
  /// 6. assets that no record holds, hashes of deleted users, and shared limits
  ///
  /// It works in small writes of up to ``Retention/batch`` rows, so that other writes do not wait.
  /// Deletions stay when a later one fails. A delivery is deleted with its log entry, finished or
  /// not.
  ///
  /// - Parameter timestamp: the present time.
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

  /// Takes the next step of the user deletions under way; see ``UserDeletionService``.
  func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion? {
    try await userDeletion.continueUserDeletion(at: timestamp)
  }
}

extension MaintenanceService {
  /// Deletes log entries in batches, until `find` finds no more.
  private func dropEntries(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await transactions.inBatches(find, drop: { try LogTrimming(in: $0).drop(entries: $1) })
  }

  /// Deletes marks in batches, until `find` finds no more.
  private func dropMarks(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await transactions.inBatches(find, drop: { try LogTrimming(in: $0).drop(marks: $1) })
  }

  /// Deletes expired device tokens, web auth tokens and console sessions, in one write.
  ///
  /// - Parameter now: the present time in milliseconds since 1970.
  private func dropExpiredTokens(at now: Int64) async throws {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).dropExpired(at: now, ordering: &orders)
      try WebAuthTokenTable(transaction: transaction).dropExpired(at: now)
      try ConsoleSessionTable(transaction: transaction).dropExpired(at: now)
    }
  }
}

/// The version of the newest forgotten change in a database. A reader with an older position starts
/// from the beginning.
struct ForgottenVersion: InDatabase {
  var database: DatabaseID
  var version: Int64

  /// Reads database and version.
  init(row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    version = row.integer(1)
  }

  /// The arguments `$1` and `$2` of a statement: database and version.
  var arguments: [SQLValue] { [.integer(database.rawValue), .integer(version)] }
}
