import CloudKitModel
import Foundation
import StoreModel

/// The service for the notification logs of users.
struct NotificationLogService: NotificationLogStore {
  let transactions: Transactions
  /// The log entries that are not yet in the index by subscriber; nil if each entry is inserted
  /// into the index at once.
  let tail: NotificationTail?
  /// The limits of a user's log.
  let limits: NotificationLogLimits
  /// The growth of the logs, by which the dispatcher's transactions trim them.
  let growth: LogGrowth

  /// Creates the service without any growth.
  init(transactions: Transactions, tail: NotificationTail?, limits: NotificationLogLimits) {
    self.transactions = transactions
    self.tail = tail
    self.limits = limits
    growth = LogGrowth(limits)
  }

  /// Returns a page of the recipient's log: the changes after `token`, oldest first. A change is an
  /// entry of the log, or the mark that entries were read.
  ///
  /// - Parameters:
  ///   - token: the token of the previous page; nil begins with the oldest change.
  ///   - limit: the most changes; a number below 1 counts as 1.
  /// - Throws: ``StoreError/Code/badContinuation`` if the text is not a token of a notification
  ///   log; ``StoreError/Code/changeTokenExpired`` if the reader must start again without a token.
  /// - Complexity: O(*d* (*r* log *n* + *limit*)). *d* is the number of databases in which the user
  ///   has ever had subscriptions. *r* is the number of runs of the log's index: sorted pieces,
  ///   about ten for a million entries (``NotificationIndexTable``). *n* is the number of log
  ///   entries. Marked entries are skipped one by one.
  func notificationLog(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationLogPage {
    try await transactions.read {
      try NotificationLogReading(recipient: recipient, transaction: $0)
        .page(since: token, limit: max(1, limit))
    }
  }

  /// Marks notifications as read, with one write for each database that has unread ones among them.
  ///
  /// If a write fails, earlier writes stay committed. The caller can then repeat the call: marked
  /// notifications stay as they are.
  ///
  /// - Returns: those of the IDs that the recipient's log has, whether they were marked before or
  ///   not.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted.
  /// - Complexity: O(*d* *m* log *n* + *e*). *d* is the number of databases in which the user has
  ///   ever had subscriptions, and *m* is the number of IDs. *n* is the number of all marks, and
  ///   *e* is the number of entries in the user's log.
  func markNotificationsRead(
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
  /// Deletes the oldest entries of a user's log beyond the limits of entries and bytes, in batches.
  /// Entries that are not in the index yet neither count nor are deleted.
  func trimLog(of subscriber: String) async throws {
    let cut = try await transactions.read {
      try NotificationIndexTable(transaction: $0)
        .cut(of: subscriber, keeping: limits.entries, bytes: limits.bytes)
    }
    guard let cut else { return }
    try await dropEntries { try NotificationIndexTable(transaction: $0).entries(through: cut) }
  }

  /// Deletes log entries in batches, until `find` returns no more.
  func dropEntries(
    _ find: @escaping @Sendable (StoreTransaction) throws -> [TrimmedChange]
  ) async throws {
    try await transactions.inBatches(find, drop: { try LogTrimming(in: $0).drop(entries: $1) })
  }

  /// The number of entries that one write of ``fileNotifications()`` inserts into the index. A
  /// write may insert more, because the entries of one subscriber are inserted together.
  private static let filingBatch = 1_000

  /// Inserts all entries that were logged before the call into the index, so that trimming finds
  /// them there. The method runs a write for about each ``filingBatch`` entries.
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

/// The state of some notification IDs in one database's log, read before they are marked.
private struct LogState: Sendable {
  var database: DatabaseID
  /// The IDs that the log has, marked or not.
  var known: Set<UUID> = []
  /// The IDs that the log has without a mark, each once, in the order of the request.
  var unread: [UUID] = []
}

extension LogState {
  /// Reads the state of the IDs: first the marks, then the entries of the IDs without a mark.
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
