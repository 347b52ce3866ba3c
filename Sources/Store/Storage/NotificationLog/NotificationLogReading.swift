import CloudKitModel
import Foundation
import StoreModel

/// The reading of a page of a user's notification log, in one snapshot of the store.
///
/// A user's log in a container merges the logs of its databases in the order of time. Each has
/// *entries*, which are notifications, and *marks*: a mark says that the entries with its
/// notification ID were read.
struct NotificationLogReading {
  let recipient: Recipient
  let transaction: StoreTransaction
  private let unfiledRows: [NotificationIndexRow]

  init(recipient: Recipient, transaction: StoreTransaction) throws {
    self.recipient = recipient
    self.transaction = transaction
    unfiledRows = try NotificationIndexTable(transaction: transaction)
      .unfiledRows(of: recipient.userRecordName)
  }

  /// An entry or a mark whose content is not loaded yet.
  private struct Change {
    var database: DatabaseID
    var position: Int64
    var moment: Timestamp
    var marked: UUID?
  }

  /// The page ends after `limit` changes, or when its contents reach
  /// `ServiceLimits.notificationsPageSize` bytes.
  ///
  /// - Throws: ``StoreError/Code/badContinuation`` or ``StoreError/Code/changeTokenExpired``.
  func page(since text: String?, limit: Int) throws -> NotificationLogPage {
    let databases = try SubscriberDatabaseTable(transaction: transaction).notifiedDatabases(
      of: recipient)
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
        let (entry, bytes) = try NotificationLogTable(transaction: transaction)
          .entry(change.position, of: recipient.userRecordName, in: change.database)
        notifications.append(.unread(entry))
        size += bytes
      }
    }
    return NotificationLogPage(
      notifications: notifications, token: try token.text(sealedBy: transaction.context.tokens),
      moreComing: queues.contains { !$0.isEmpty })
  }

  /// The reader's position before this page in each database.
  ///
  /// - Throws: ``StoreError/Code/changeTokenExpired`` in three cases: the token belongs to another
  ///   user or container; changes that the reader has not seen were deleted; the token is newer
  ///   than the store, which was reset to an earlier state.
  private func start(
    of text: String?, in databases: [NotifiedDatabase]
  ) throws -> NotificationLogToken {
    var token = NotificationLogToken(of: recipient)
    let previous = try text.map {
      try NotificationLogToken($0, sealedBy: transaction.context.tokens)
    }
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
          "the change token is older than the notification log's oldest entry; start without one")
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

  /// The queue with the oldest change. Each queue has the changes of one database in the order of
  /// positions, which stays even if the clock was set back.
  private static func oldest(of queues: [ArraySlice<Change>]) -> Int? {
    queues.indices.filter { !queues[$0].isEmpty }.min { left, right in
      guard let first = queues[left].first, let second = queues[right].first else { return false }
      return (first.moment, first.database) < (second.moment, second.database)
    }
  }

  private func changes(
    in database: DatabaseID, after position: Int64, limit: Int
  ) throws -> [Change] {
    let subscriber = recipient.userRecordName
    let entries = try NotificationIndexTable(transaction: transaction)
      .unread(
        of: subscriber, in: database, after: position, limit: limit, unfiled: unfiledRows
      ).map { Change(database: database, position: $0.sequence, moment: $0.logged) }
    let marks = try NotificationMarkTable(transaction: transaction)
      .marks(of: subscriber, in: database, after: position, limit: limit)
      .map { position, marked, notificationID in
        Change(database: database, position: position, moment: marked, marked: notificationID)
      }
    return Array((entries + marks).sorted { $0.position < $1.position }.prefix(limit))
  }
}

/// A database in which a user has ever had subscriptions.
struct NotifiedDatabase {
  var id: DatabaseID
  /// The newest change that was deleted from the user's log because of its age or the log's size;
  /// 0 for none. Deleted entries with a mark do not count.
  var trimmedThrough: Int64
  /// The last number that was drawn. No entry or mark has a greater position.
  var lastNumber: Int64
}

extension UUID {
  var storedBytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

  init(stored bytes: [UInt8]) throws {
    guard bytes.count == 16 else {
      throw StoreError(.corrupt, "a stored notification ID has \(bytes.count) bytes, not 16")
    }
    self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
