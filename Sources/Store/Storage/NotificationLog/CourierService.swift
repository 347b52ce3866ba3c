import CloudKitModel
import SQLEngine
import StoreModel

/// The service by which readers of the web courier get the entries of the notification log. A
/// reader is a client that polls the server.
///
/// A reader's *cursor* in a database is the last entry that the reader has acknowledged. A reader
/// of several databases gets the entries in the order of their times.
struct CourierService: CourierStore, CourierAnswers {
  let transactions: Transactions
  /// Whether a reader's polls may reach several servers: true on PostgreSQL.
  let isShared: Bool

  /// Returns the next log entry for a reader: the oldest one that follows the reader's cursor, or
  /// that follows the position which the reader sends with its poll. The result is nil if there is
  /// no such entry.
  ///
  /// A reader gets only entries that were logged after its token was registered for the present
  /// user and container.
  ///
  /// - Parameters:
  ///   - token: the reader's own token.
  ///   - position: the position that the reader has sent. In each database of the position, it
  ///     replaces the cursor. A position past the end of a database's log is ignored.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  /// - Complexity: O(*d* *r* log *n*). *d* is the number of databases in which the user has ever
  ///   had subscriptions. *r* is the number of runs of the log's index: sorted pieces, about ten
  ///   for a million entries (``NotificationIndexTable``). *n* is the number of log entries.
  func nextCourierEntry(
    forToken token: String, after position: CourierPosition
  ) async throws -> CourierEntry? {
    try await transactions.read { transaction in
      let cursors = CourierCursorTable(transaction: transaction)
      var oldest: CourierEntry?
      for (device, badge) in try DeviceTable(transaction: transaction).existingReaders(
        ofToken: token)
      {
        for database in try SubscriberDatabaseTable(transaction: transaction).notifiedDatabases(
          of: device.recipient)
        {
          let cursor = try cursors.cursor(of: device.token, in: database.id)
          let own = position.sequences[database.id].flatMap {
            $0 <= database.lastNumber ? $0 : nil
          }
          let next = try NotificationIndexTable(transaction: transaction)
            .nextSequence(for: device, in: database.id, after: own ?? cursor)
          guard let next else { continue }
          let (entry, _) = try NotificationLogTable(transaction: transaction)
            .entry(next, of: device.userRecordName, in: database.id)
          if let other = oldest?.entry, !entry.isOlder(than: other) { continue }
          let asksForBadge = entry.notification.subscription.notificationInfo?.shouldBadge == true
          // The stored badge already counts entries up to the cursor.
          let isNew = entry.sequence > cursor
          oldest = CourierEntry(
            entry: entry, badge: asksForBadge ? badge + (isNew ? 1 : 0) : nil)
        }
      }
      return oldest
    }
  }

  /// Moves the reader's cursor to this entry, and raises the reader's badge if the subscription
  /// asks for a badge. The method does nothing if the cursor is already at this entry or at a later
  /// one.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  func acknowledgeCourierEntry(
    _ entry: LogEntry, forToken token: String
  ) async throws {
    try await transactions.write(locking: .rows) { transaction in
      let address = entry.notification.database
      let devices = DeviceTable(transaction: transaction)
      // The reader may have been registered for another container meanwhile.
      guard
        let device = try devices.existingReaders(ofToken: token, keepingThem: true).first(
          where: {
            $0.device.container == address.container
              && $0.device.environment == address.environment
          })?.device
      else { return }
      let moved = try CourierCursorTable(transaction: transaction)
        .advance(device.token, to: entry.sequence, in: entry.database)
      if moved, entry.notification.subscription.notificationInfo?.shouldBadge == true {
        _ = try devices.raiseBadge(of: device.token, kind: .courier)
      }
    }
  }
}

extension LogEntry {
  /// Returns whether a reader of several databases gets this entry before `other`. The order is by
  /// time, then by database, then by sequence.
  fileprivate func isOlder(than other: LogEntry) -> Bool {
    (logged, database, sequence) < (other.logged, other.database, other.sequence)
  }
}
