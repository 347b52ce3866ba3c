import CloudKitModel
import Foundation
import StoreModel

/// The notification log as a user's devices read it: one log for each user and container, with
/// notifications from all databases.
///
/// An entry is a notification. It is in the log from its dispatch until the store deletes it
/// (``NotificationLogLimits``), and is unread at first. When a device marks a notification ID as
/// read, the log gets a mark, which comes after all earlier entries.
///
/// One change of a record can fire several subscriptions of a user, so several entries can have the
/// same ID. For readers of the log, a mark replaces all entries with its ID, and has only the ID.
public struct NotificationLogService: Sendable {
  let transactions: Transactions
  let tail: NotificationTail?
  let limits: NotificationLogLimits
  let growth: LogGrowth

  init(transactions: Transactions, tail: NotificationTail?, limits: NotificationLogLimits) {
    self.transactions = transactions
    self.tail = tail
    self.limits = limits
    growth = LogGrowth(limits)
  }

  /// Returns the entries and marks after `token`, oldest first.
  ///
  /// A reader that continues with each page's token sees each entry once, and once more when it is
  /// marked as read. If the mark came first, the reader sees only the mark.
  ///
  /// - Parameter limit: the most entries and marks. A page ends earlier if its contents are large.
  /// - Throws: ``StoreError/Code/badContinuation`` if the text is not a token of a log.
  ///   ``StoreError/Code/changeTokenExpired`` in three cases: the store has deleted an entry or a
  ///   mark that the reader has not seen; the token belongs to another user or container; the store
  ///   was reset to an earlier state.
  /// - Complexity: O(*d* (*r* log *n* + *limit*)). *d* is the number of databases in which the user
  ///   has ever had subscriptions. *r* is the number of runs of the log's index: sorted pieces,
  ///   about ten for a million entries (``NotificationIndexTable``). *n* is the number of log
  ///   entries. Marked entries are skipped one by one.
  public func notificationLog(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationLogPage {
    try await transactions.read {
      try NotificationLogReading(recipient: recipient, transaction: $0)
        .page(since: token, limit: max(1, limit))
    }
  }

  /// Marks notifications as read, in one write for each database. If a write fails, earlier ones
  /// stay committed, and the caller can repeat the call.
  ///
  /// - Returns: those of the IDs that the recipient's log has, marked before or not.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  /// - Complexity: O(*d* *m* log *n* + *e*). *d* is the number of databases in which the user has
  ///   ever had subscriptions, and *m* is the number of IDs. *n* is the number of all marks, and
  ///   *e* is the number of entries in the user's log.
  public func markNotificationsRead(
    _ notificationIDs: [UUID], of recipient: Recipient, timestamp: Timestamp
  ) async throws -> Set<UUID> {
    let subscriber = recipient.userRecordName
    let states = try await transactions.read { transaction in
      try SubscriberDatabaseTable(transaction: transaction).notifiedDatabases(of: recipient).map {
        database in
        try LogState(of: notificationIDs, of: subscriber, in: database.id, transaction)
      }
    }
    for state in states where !state.unread.isEmpty {
      try await transactions.write(locking: .database(state.database)) {
        try UserDeletionTable(transaction: $0).refuseDeleted(subscriber)
        try NotificationMarkTable(transaction: $0)
          .mark(state.unread, of: subscriber, in: state.database, at: timestamp)
      }
    }
    return states.reduce(into: []) { $0.formUnion($1.known) }
  }

}

extension NotificationLogService {
  /// Entries that are not in the index yet neither count nor are deleted.
  func trimLog(of subscriber: String) async throws {
    let cut = try await transactions.read {
      try NotificationIndexTable(transaction: $0)
        .cut(of: subscriber, keeping: limits.entries, bytes: limits.bytes)
    }
    guard let cut else { return }
    try await dropEntries { try NotificationIndexTable(transaction: $0).entries(through: cut) }
  }

  func dropEntries(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await transactions.inBatches(find, drop: { try LogTrimming(in: $0).drop(entries: $1) })
  }

  /// The entries of one write of ``fileNotifications()``; more if one subscriber has more.
  private static let filingBatch = 1_000

  /// For the entries that were logged before the call, so that trimming finds them.
  func fileNotifications() async throws {
    guard let tail else { return }
    // The tail gets the entries of a commit shortly after a reader can see them. A write begins when
    // this is done for the commits before it.
    try await transactions.write(locking: .rows) { _ in }
    let generation = tail.generation
    while tail.hasUnfiled(through: generation) {
      try await transactions.write(locking: .rows, rows: Self.filingBatch) {
        $0.filingRequest = Self.filingBatch
      }
    }
  }
}

/// The state of some IDs in one database's log, read before they are marked.
private struct LogState: Sendable {
  var database: DatabaseID
  var known: Set<UUID> = []
  var unread: [UUID] = []
}

extension LogState {
  init(
    of notificationIDs: [UUID], of subscriber: String, in database: DatabaseID,
    _ transaction: StoreTransaction
  ) throws {
    self.database = database
    let marks = NotificationMarkTable(transaction: transaction)
    var missing: Set<[UInt8]> = []
    for notificationID in notificationIDs {
      if try marks.isMarked(notificationID, of: subscriber, in: database) {
        known.insert(notificationID)
      } else {
        missing.insert(notificationID.storedBytes)
      }
    }
    if missing.isEmpty { return }
    let logged = Set(
      try NotificationIndexTable(transaction: transaction)
        .entries(of: subscriber, in: database, withIDs: missing).map(\.notificationID))
    for notificationID in notificationIDs where logged.contains(notificationID.storedBytes) {
      if known.insert(notificationID).inserted { unread.append(notificationID) }
    }
  }
}

/// A page of a user's notification log.
public struct NotificationLogPage: Sendable, Hashable {
  /// Oldest first. A marked notification has the place of its mark.
  public var notifications: [LoggedNotification]
  /// The token for the next page, which only a server of this store can read.
  public var token: String
  /// Whether the log already has entries after this page.
  public var moreComing: Bool
}
