import CloudKitModel
import Foundation
import StoreModel

/// The service for the notification logs of users.
struct NotificationLogService: NotificationLogStore {
  let transactions: Transactions
  /// The entries not yet in the index; nil if all are filed at once.
  let tail: NotificationTail?

  /// Returns the changes of the recipient's log since `token`, oldest first.
  ///
  /// - Parameter limit: the most changes; below 1 counts as 1.
  /// - Complexity: O(*d* (*r* log *n* + *limit*)) for *d* databases in which the user ever had
  ///   subscriptions and *r* runs of the index, some ten for a million entries. Entries that were
  ///   marked since are skipped one by one.
  func notificationLog(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationLogPage {
    try await transactions.read {
      try NotificationLogReading(recipient: recipient, transaction: $0)
        .page(since: token, limit: max(1, limit))
    }
  }

  /// Marks notifications as read, with one write for each database that has any of them.
  ///
  /// A later write may fail after earlier ones. Then call it again: marked notifications stay as
  /// they are.
  ///
  /// - Returns: the IDs that the recipient's log has, marked or not.
  /// - Complexity: O(*d* *m* log *n* + *e*) for *m* IDs, *d* databases in which the user ever had
  ///   subscriptions, and *e* entries of the user's log.
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
  /// The most entries that one write files.
  private static let filingBatch = 1_000

  /// Files the entries that wait at the time of the call, so that trimming finds them in the index.
  /// It needs a write for each ``filingBatch`` entries.
  func fileNotifications() async throws {
    guard let tail else { return }
    let generation = tail.generation
    while tail.hasUnfiled(through: generation) {
      try await transactions.write(locking: .rows) { $0.filingRequest = Self.filingBatch }
    }
  }
}

/// The state of some notification IDs in one database's log, read before they are marked.
private struct LogState: Sendable {
  var database: DatabaseID
  /// The IDs that the log has, marked or not.
  var known: Set<UUID> = []
  /// The unmarked IDs, each once, in the order of the request.
  var unread: [UUID] = []
}

extension LogState {
  /// Looks up the marks first, and then the entries of the IDs without a mark.
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
