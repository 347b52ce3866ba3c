import CloudKitModel
import SQLEngine
import StoreModel

/// The service that gives the notification log to readers of the web courier.
///
/// A reader's cursor in each database stands at the last entry that the reader has acknowledged. A
/// reader of several databases gets the entries in the order of their times.
struct CourierService: CourierStore, CourierAnswers {
  let transactions: Transactions
  /// Whether a reader's polls may reach several servers. It is true on PostgreSQL.
  let isShared: Bool

  /// Returns the oldest notification that the reader with this token has not acknowledged, or that
  /// follows its own position; nil if there is none.
  ///
  /// A reader gets entries logged since its token was first saved for the container. A position
  /// past the end of a database's log is ignored.
  ///
  /// - Parameters:
  ///   - token: the reader's own token.
  ///   - position: the reader's own position. Where it has a sequence, that replaces the cursor.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  /// - Complexity: O(*d* *r* log *n*) for *d* databases in which the user ever had subscriptions
  ///   and *r* runs of the index.
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
          // An acknowledged entry is already counted.
          let isNew = entry.sequence > cursor
          oldest = CourierEntry(
            entry: entry, badge: asksForBadge ? badge + (isNew ? 1 : 0) : nil)
        }
      }
      return oldest
    }
  }

  /// Moves the reader's cursor past this entry, and stores the badge shown with it. An entry before
  /// the cursor changes nothing.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  func acknowledgeCourierEntry(
    _ entry: LogEntry, forToken token: String
  ) async throws {
    try await transactions.write(locking: .rows) { transaction in
      let address = entry.notification.database
      let devices = DeviceTable(transaction: transaction)
      // The reader may have been moved to another container since.
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
  /// Returns whether a reader of several databases gets this entry first: by its time, then by the
  /// database, then by the sequence.
  fileprivate func isOlder(than other: LogEntry) -> Bool {
    (logged, database, sequence) < (other.logged, other.database, other.sequence)
  }
}
