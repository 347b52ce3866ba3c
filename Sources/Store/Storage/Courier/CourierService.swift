import CloudKitModel
import StoreModel

/// The notification log for readers of the web courier: clients that poll the server, or hold an
/// event stream.
///
/// A reader's *cursor* in a database is the last entry that the reader has acknowledged. A reader
/// of several databases gets the entries in the order of their times.
public struct CourierService: Sendable {
  let transactions: Transactions
  /// The entries that readers got last.
  public let recentEntries = CourierEntryCache()

  /// Returns the oldest notifications that the reader has not acknowledged, in the order in which
  /// the reader gets them. Notifications of changes by the reader's own device, and from before the
  /// registration of the token, are left out.
  ///
  /// - Parameter position: in each of its databases, the result comes from the entries after it,
  ///   acknowledged or not. In other databases, the store's cursor counts. A sequence beyond the
  ///   end of a database's log is ignored.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  /// - Complexity: O(*d* *r* log *n*) and a statement for each entry that ``recentEntries`` lacks.
  ///   *d* is the number of databases in which the user has ever had subscriptions. *r* is the
  ///   number of runs of the log's index, about ten for a million entries
  ///   (``NotificationIndexTable``). *n* is the number of log entries.
  public func courierEntries(
    forToken token: String, after position: CourierPosition, limit: Int
  ) async throws -> [CourierEntry] {
    try await transactions.read { transaction in
      var readers = try DeviceTable(transaction: transaction).existingReaders(ofToken: token)
      var logs = try readers.indices.flatMap { reader in
        try unreadLogs(of: readers[reader].device, after: position, limit: limit, in: transaction)
          .map { (reader: reader, log: $0) }
      }
      var entries: [CourierEntry] = []
      while entries.count < limit,
        let oldest = logs.indices.min(by: { logs[$0].log.isBefore(logs[$1].log) })
      {
        let (reader, log) = logs[oldest]
        guard let next = log.rest.first else { break }
        logs[oldest].log.rest.removeFirst()
        let entry = try recentEntries.entry(next.sequence, in: log.database) {
          try NotificationLogTable(transaction: transaction)
            .entry(next.sequence, of: readers[reader].device.userRecordName, in: log.database)
        }
        guard entry.raisesBadge else {
          entries.append(CourierEntry(entry: entry, badge: nil))
          continue
        }
        // The stored badge already counts entries up to the cursor.
        if entry.sequence > log.cursor { readers[reader].badge += 1 }
        entries.append(CourierEntry(entry: entry, badge: readers[reader].badge))
      }
      return entries
    }
  }

  /// The entries of one database that a reader has not read.
  private struct UnreadLog {
    let database: DatabaseID
    let cursor: Int64
    var rest: ArraySlice<(sequence: Int64, logged: Timestamp)>

    func isBefore(_ other: UnreadLog) -> Bool {
      guard let first = rest.first else { return false }
      guard let otherFirst = other.rest.first else { return true }
      return (first.logged, database) < (otherFirst.logged, other.database)
    }
  }

  private func unreadLogs(
    of device: DeviceToken, after position: CourierPosition, limit: Int,
    in transaction: StoreTransaction
  ) throws -> [UnreadLog] {
    let cursors = CourierCursorTable(transaction: transaction)
    return try SubscriberDatabaseTable(transaction: transaction)
      .notifiedDatabases(of: device.recipient).map { database in
        let cursor = try cursors.cursor(of: device.token, in: database.id)
        let own = position.sequences[database.id].flatMap { $0 <= database.lastNumber ? $0 : nil }
        let entries = try NotificationIndexTable(transaction: transaction)
          .entries(for: device, in: database.id, after: own ?? cursor, limit: limit)
        return UnreadLog(database: database.id, cursor: cursor, rest: entries[...])
      }
  }

  /// Moves the reader's cursors to these entries, and raises the badge for each entry that asks for
  /// one. An entry that the reader has acknowledged before does not count.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  public func acknowledgeCourierEntries(
    _ entries: [LogEntry], forToken token: String
  ) async throws {
    if entries.isEmpty { return }
    try await transactions.write(locking: .rows) { transaction in
      let readers = try DeviceTable(transaction: transaction)
        .existingReaders(ofToken: token, keepingThem: true).map(\.device)
      for (database, entries) in Dictionary(grouping: entries, by: \.database) {
        try acknowledge(entries, in: database, by: readers, in: transaction)
      }
    }
  }

  private func acknowledge(
    _ entries: [LogEntry], in database: DatabaseID, by readers: [DeviceToken],
    in transaction: StoreTransaction
  ) throws {
    // The reader may have been registered for another container meanwhile.
    guard let last = entries.max(by: { $0.sequence < $1.sequence }),
      let reader = readers.first(where: {
        $0.container == last.notification.database.container
          && $0.environment == last.notification.database.environment
      })
    else { return }
    let cursors = CourierCursorTable(transaction: transaction)
    let cursor = try cursors.cursor(of: reader.token, in: database)
    guard try cursors.advance(reader.token, to: last.sequence, in: database) else { return }
    let raises = entries.count { $0.sequence > cursor && $0.raisesBadge }
    if raises > 0 {
      _ = try DeviceTable(transaction: transaction)
        .raiseBadge(of: reader.name, by: raises)
    }
  }
}

extension LogEntry {
  fileprivate var raisesBadge: Bool {
    notification.subscription.notificationInfo?.shouldBadge == true
  }
}

/// The next notification for a reader of the web courier.
public struct CourierEntry: Sendable, Hashable {
  /// The notification, which waits until the reader has acknowledged it.
  public var entry: LogEntry
  /// The reader's badge with this notification; nil if the subscription asks for none.
  public var badge: Int?
}
