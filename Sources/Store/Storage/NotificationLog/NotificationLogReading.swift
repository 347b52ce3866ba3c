import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// Reads a page of a user's notification log, in a transaction that sees one state of the store.
struct NotificationLogReading {
  let recipient: Recipient
  let session: StoreSession
  private let unfiledRows: [NotificationIndexRow]

  init(recipient: Recipient, session: StoreSession) throws {
    self.recipient = recipient
    self.session = session
    unfiledRows = try session.unfiledRows(of: recipient.userRecordName)
  }

  /// A change of the log that has not been loaded.
  private struct Change {
    var database: DatabaseID
    var position: Int64
    var moment: Timestamp
    /// What was marked; nil for an entry.
    var marked: UUID?
  }

  func page(since text: String?, limit: Int) throws -> NotificationLogPage {
    let databases = try SubscriberDatabaseTable(session: session).notifiedDatabases(of: recipient)
    var token = try start(of: text, in: databases)
    var queues: [ArraySlice<Change>] = []
    for database in databases {
      let place = token.places[database.id]?.position ?? 0
      queues.append(try changes(in: database.id, after: place, limit: limit + 1)[...])
    }
    var notifications: [LoggedNotification] = []
    var size = 0
    while notifications.count < limit, size < ServiceLimits.notificationsPageSize {
      guard let next = Self.oldest(of: queues), let change = queues[next].popFirst() else { break }
      token.places[change.database]?.position = change.position
      if let notificationID = change.marked {
        notifications.append(.read(notificationID: notificationID, marked: change.moment))
      } else {
        let (entry, bytes) = try session.logEntry(
          change.position, of: recipient.userRecordName, in: change.database)
        notifications.append(.unread(entry))
        size += bytes
      }
    }
    return NotificationLogPage(
      notifications: notifications, token: try token.text(sealedBy: session.tokens),
      moreComing: queues.contains { !$0.isEmpty })
  }

  /// The reader's places before this page.
  private func start(
    of text: String?, in databases: [NotifiedDatabase]
  ) throws -> NotificationLogToken {
    var token = NotificationLogToken(of: recipient)
    let previous = try text.map { try NotificationLogToken($0, sealedBy: session.tokens) }
    guard previous == nil || previous?.recipient == recipient else {
      throw StoreError(
        .changeTokenExpired,
        "the change token belongs to another user's log or another container's; start without one")
    }
    for database in databases {
      let fresh = NotificationLogToken.Place(
        position: 0, floor: previous == nil ? database.trimmedThrough : 0)
      var place = previous?.places[database.id] ?? fresh
      guard database.trimmedThrough <= max(place.position, place.floor) else {
        throw StoreError(
          .changeTokenExpired,
          "the change token is older than what the notification log still has; start without one")
      }
      guard place.position <= database.lastNumber else {
        throw StoreError(
          .changeTokenExpired,
          "the change token is newer than the store, which was reset; start without one")
      }
      place.floor = max(place.floor, database.trimmedThrough)
      token.places[database.id] = place
    }
    return token
  }

  /// The queue with the oldest change at its head. Within a database the order is the log's own,
  /// whatever the clock did.
  private static func oldest(of queues: [ArraySlice<Change>]) -> Int? {
    queues.indices.filter { !queues[$0].isEmpty }.min { left, right in
      guard let first = queues[left].first, let second = queues[right].first else { return false }
      return (first.moment, first.database) < (second.moment, second.database)
    }
  }

  /// The changes of one database's log after a position, in order.
  private func changes(
    in database: DatabaseID, after position: Int64, limit: Int
  ) throws -> [Change] {
    let arguments: [SQLValue] = [
      .integer(database.rawValue), .text(recipient.userRecordName), .integer(position),
      .integer(Int64(limit)),
    ]
    let filed = try session.connection.rows(
      """
      SELECT sequence, logged FROM notification_runs CROSS JOIN notification_index
      WHERE notification_index.run = notification_runs.run
        AND database_id = $1 AND subscriber = $2 AND sequence > $3 AND NOT EXISTS (
          SELECT 1 FROM notification_marks
          WHERE notification_marks.database_id = notification_index.database_id
            AND notification_marks.subscriber = notification_index.subscriber
            AND notification_marks.notification_id = notification_index.notification_id)
      ORDER BY sequence LIMIT $4
      """, arguments
    ) { (sequence: $0.integer(0), logged: $0.integer(1)) }
    let entries = Dictionary(
      filed + (try unfiled(in: database, after: position, limit: limit)),
      uniquingKeysWith: { first, _ in first }
    ).map { sequence, logged in
      Change(
        database: database, position: sequence, moment: Timestamp(milliseconds: logged))
    }
    let marks = try session.connection.rows(
      """
      SELECT position, marked, notification_id FROM notification_marks
      WHERE database_id = $1 AND subscriber = $2 AND position > $3
      ORDER BY position LIMIT $4
      """, arguments
    ) { row in
      Change(
        database: database, position: row.integer(0),
        moment: Timestamp(milliseconds: row.integer(1)), marked: try UUID(stored: row.bytes(2)))
    }
    return Array((entries + marks).sorted { $0.position < $1.position }.prefix(limit))
  }

  /// Unread entries of one database that the index by subscriber may not have.
  private func unfiled(
    in database: DatabaseID, after position: Int64, limit: Int
  ) throws -> [(sequence: Int64, logged: Int64)] {
    let rows = unfiledRows.filter { $0.database == database && $0.sequence > position }
    var unread: [(sequence: Int64, logged: Int64)] = []
    for row in rows.sorted(by: { $0.sequence < $1.sequence }) where unread.count < limit {
      if try !session.isMarked(row.notificationID, of: row.subscriber, in: database) {
        unread.append((row.sequence, row.logged.milliseconds))
      }
    }
    return unread
  }
}

/// A database in which a user may have been notified.
struct NotifiedDatabase {
  var id: DatabaseID
  /// The last position in the user's log of which something that was not read was trimmed.
  var trimmedThrough: Int64
  var lastNumber: Int64
}

extension StoreSession {
  /// An entry of the log, with the size of its stored contents.
  func logEntry(
    _ sequence: Int64, of subscriber: String, in database: DatabaseID
  ) throws -> (entry: LogEntry, size: Int) {
    let address = try DatabaseTable(session: self).address(of: database)
    let entry = try connection.first(
      "SELECT logged, content FROM notification_log WHERE database_id = $1 AND sequence = $2",
      [.integer(database.rawValue), .integer(sequence)]
    ) { row in
      let content = row.bytes(1)
      let notification = try SubscriptionNotification(
        stored: content, database: address, subscriber: subscriber)
      let logged = Timestamp(milliseconds: row.integer(0))
      return (
        LogEntry(
          database: database, sequence: sequence, notification: notification, logged: logged),
        content.count
      )
    }
    guard let entry else {
      throw StoreError(
        .corrupt, "the notification log has no entry \(sequence), but an index of it")
    }
    return entry
  }
}

extension UUID {
  /// The 16 bytes that the store keeps.
  var storedBytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

  init(stored bytes: [UInt8]) throws {
    guard bytes.count == 16 else {
      throw StoreError(.corrupt, "a stored notification ID has \(bytes.count) bytes, not 16")
    }
    self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
