import CloudKitModel
import Foundation
import StoreModel

extension SQLRecordStore {
  /// What changed in the recipient's log since `token`, oldest first.
  ///
  /// - Complexity: O(*d* (*r* log *n* + *limit*)) for *d* databases in which the user ever had
  ///   subscriptions and *r* runs of the index, some ten for a million entries; entries that were marked since are passed over one by one.
  public func notificationLog(
    of recipient: Recipient, since token: String?, limit: Int
  ) async throws -> NotificationLogPage {
    try await read {
      try NotificationLogReading(recipient: recipient, session: $0)
        .page(since: token, limit: max(1, limit))
    }
  }

  /// Marks notifications as read, with one write for each database that has any of them.
  ///
  /// - Complexity: O(*d* *m* log *n* + *e*) for *m* IDs, *d* databases in which the user ever had
  ///   subscriptions, and *e* entries of the user's log.
  public func markNotificationsRead(
    _ notificationIDs: [UUID], of recipient: Recipient, timestamp: Timestamp
  ) async throws -> Set<UUID> {
    let subscriber = recipient.userRecordName
    let states = try await read { session in
      try SubscriberDatabaseTable(session: session).notifiedDatabases(of: recipient).map {
        database in
        try session.logState(of: notificationIDs, of: subscriber, in: database.id)
      }
    }
    for state in states where !state.unread.isEmpty {
      try await write(locking: .database(state.database)) {
        try $0.refuseDeleted(subscriber)
        try $0.mark(state.unread, of: subscriber, in: state.database, at: timestamp)
      }
    }
    return states.reduce(into: []) { $0.formUnion($1.known) }
  }

  public func setBadge(_ badge: Int, of recipient: Recipient) async throws {
    try await write(locking: .badges(of: [recipient.userRecordName])) { session in
      _ = try session.connection.run(
        """
        UPDATE device_tokens SET badge = $4
        WHERE user_record_name = $1 AND container = $2 AND environment = $3
        """,
        [
          .text(recipient.userRecordName), .text(recipient.container),
          .text(recipient.environment.rawValue), .integer(Int64(badge)),
        ])
    }
  }
}

/// What one database's log has of some notification IDs.
private struct LogState: Sendable {
  var database: DatabaseID
  var known: Set<UUID> = []
  /// Those that are not marked, each once, in the order they were asked for.
  var unread: [UUID] = []
}

extension StoreSession {
  fileprivate func logState(
    of notificationIDs: [UUID], of subscriber: String, in database: DatabaseID
  ) throws -> LogState {
    var state = LogState(database: database)
    var missing: Set<[UInt8]> = []
    for notificationID in notificationIDs {
      if try isMarked(notificationID, of: subscriber, in: database) {
        state.known.insert(notificationID)
      } else {
        missing.insert(notificationID.storedBytes)
      }
    }
    if missing.isEmpty { return state }
    let logged = Set(
      try logEntries(of: subscriber, in: database.rawValue, withIDs: missing).map(\.notificationID))
    for notificationID in notificationIDs where logged.contains(notificationID.storedBytes) {
      if state.known.insert(notificationID).inserted { state.unread.append(notificationID) }
    }
    return state
  }

  /// The entries of a user's log in one database that have one of these IDs.
  ///
  /// - Complexity: O(entries of the user in the database), which are read from an index.
  func logEntries(
    of subscriber: String, in database: Int64, withIDs notificationIDs: Set<[UInt8]>
  ) throws -> [(sequence: Int64, notificationID: [UInt8])] {
    var entries: [Int64: [UInt8]] = [:]
    try connection.query(
      """
      SELECT sequence, notification_id FROM notification_runs CROSS JOIN notification_index
      WHERE notification_index.run = notification_runs.run
        AND database_id = $1 AND subscriber = $2
      """, [.integer(database), .text(subscriber)]
    ) { row in
      let notificationID = row.bytes(1)
      if notificationIDs.contains(notificationID) { entries[row.integer(0)] = notificationID }
    }
    for row in try unfiledRows(of: subscriber) where row.database.rawValue == database {
      let notificationID = row.notificationID.storedBytes
      if notificationIDs.contains(notificationID) { entries[row.sequence] = notificationID }
    }
    return entries.map { ($0.key, $0.value) }
  }

  /// Whether a user's notification is marked as read.
  func isMarked(
    _ notificationID: UUID, of subscriber: String, in database: DatabaseID
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM notification_marks
      WHERE database_id = $1 AND subscriber = $2 AND notification_id = $3
      """,
      [.integer(database.rawValue), .text(subscriber), .bytes(notificationID.storedBytes)]
    ) { _ in true } ?? false
  }

  fileprivate func mark(
    _ notificationIDs: [UUID], of subscriber: String, in database: DatabaseID, at time: Timestamp
  ) throws {
    var numbers = try NumberSupply(of: database, count: notificationIDs.count, from: self)
    for notificationID in notificationIDs {
      // Another device may have marked it meanwhile.
      try connection.run(
        """
        INSERT INTO notification_marks
          (database_id, subscriber, notification_id, position, marked)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (database_id, subscriber, notification_id) DO NOTHING
        """,
        [
          .integer(database.rawValue), .text(subscriber), .bytes(notificationID.storedBytes),
          .integer(try numbers.take(from: self)), .integer(time.milliseconds),
        ])
    }
  }
}
