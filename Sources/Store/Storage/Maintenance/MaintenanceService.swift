import CloudKitModel
import SQLEngine
import StoreModel

/// The retention times that are not configurable, in milliseconds.
enum Retention {
  /// For rows of deleted subscriptions, finished deliveries, refused pushes and former devices: 30
  /// days. All but the rows of deleted subscriptions are kept longer with a longer notification
  /// log.
  static let milliseconds: Int64 = 30 * 24 * 60 * 60 * 1000
  /// For named requests (``AnsweredRequestTable``): 8 days, one more than clients repeat a request.
  static let answeredRequests: Int64 = 8 * 24 * 60 * 60 * 1000
  /// The most rows that one write of the maintenance finds and deletes, so that other writes do not
  /// wait long. Their rows in other tables may be deleted in the same write.
  static let batch: Int64 = 500
}

/// The background work of a store, which a server calls from time to time.
public struct MaintenanceService: Sendable {
  let transactions: Transactions
  let configuration: StoreConfiguration
  let notificationLog: NotificationLogService
  let changeFeeds: ChangeFeedService
  let changeHistory: ChangeHistoryService
  let assets: AssetService
  let userDeletion: UserDeletionService
  /// Nil if one server uses the store alone.
  let limits: StoreLimits?

  /// Deletes rows and files that have passed their retention, in this order:
  ///
  /// 1. entries of the notification log, and marks of read entries, beyond the limits of
  ///    ``StoreConfiguration/notificationLog``
  /// 2. finished deliveries, refused pushes and former devices, after 30 days or after the age
  ///    limit of the log, whichever is longer
  /// 3. dispatched changes beyond ``StoreConfiguration/changeHistory``
  /// 4. named requests, rows of deleted subscriptions, expired tokens, sessions and request
  ///    signatures
  /// 5. tombstones (rows of deleted records and zones) beyond
  ///    ``StoreConfiguration/deletionRetention``
  /// 6. expired uploads, assets that no record has, hashes of deleted users, and rows of shared
  ///    limits that are no longer needed
  ///
  /// Each step writes in batches of up to ``Retention/batch`` rows, but deletes all expired tokens
  /// and sessions in one write. If a step fails, the earlier deletions stay, and the later steps do
  /// not run. A delivery is deleted with its log entry, finished or not.
  public func trim(at timestamp: Timestamp) async throws {
    let horizon = timestamp.milliseconds - Retention.milliseconds
    let limits = configuration.notificationLog
    let oldestEntry = timestamp.advanced(bySeconds: -limits.age).milliseconds
    // Deliveries are kept at least as long as their log entries.
    let oldestOutcome = min(horizon, oldestEntry)
    try await notificationLog.fileNotifications()
    try await notificationLog.dropEntries {
      try NotificationLogTable(transaction: $0).old(before: oldestEntry)
    }
    let overfullLogs = try await transactions.read {
      try NotificationIndexTable(transaction: $0)
        .overfull(keeping: limits.entries, bytes: limits.bytes)
    }
    for subscriber in overfullLogs { try await notificationLog.trimLog(of: subscriber) }
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

  /// Does the next step of the user deletions under way (``UserDeletion``); nil if none is under
  /// way.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if files of assets cannot be removed.
  public func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion? {
    try await userDeletion.continueUserDeletion(at: timestamp)
  }
}

extension MaintenanceService {
  private func dropMarks(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await transactions.inBatches(find, drop: { try LogTrimming(in: $0).drop(marks: $1) })
  }

  /// Deletes in one write, however many rows there are.
  private func dropExpiredTokens(at now: Int64) async throws {
    try await transactions.writeDevices { transaction, orders in
      try DeviceTable(transaction: transaction).dropExpired(at: now, ordering: &orders)
      try WebAuthTokenTable(transaction: transaction).dropExpired(at: now, ordering: &orders)
      try ConsoleSessionTable(transaction: transaction).dropExpired(at: now)
    }
  }
}

/// A database, and the version of its newest *forgotten* deletion: the store has removed its row
/// after its retention. A client whose position is older must read from the beginning.
struct ForgottenVersion: InDatabase {
  var database: DatabaseID
  var version: Int64

  init(row: any SQLRow) {
    database = row.database(0)
    version = row.integer(1)
  }

  var arguments: [SQLValue] { [.id(database), .integer(version)] }
}
