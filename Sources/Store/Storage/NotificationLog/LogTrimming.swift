import CloudKitModel
import SQLEngine
import StoreModel

/// The newest change of a user's notification log to be trimmed, in order of time. All older
/// changes are trimmed too.
struct LogCut: Sendable {
  var subscriber: String
  /// The time of the change, in milliseconds since 1970.
  var moment: Int64
  var database: Int64
  /// The sequence of an entry, or the position of a mark.
  var position: Int64

  /// Reads a cut.
  ///
  /// - Parameters:
  ///   - subscriber: the user of the log.
  ///   - row: has time, database and position.
  init(_ subscriber: String, _ row: any SQLRow) {
    self.subscriber = subscriber
    moment = row.integer(0)
    database = row.integer(1)
    position = row.integer(2)
  }

  /// The arguments of a statement that finds a batch of changes to trim.
  ///
  /// They are `$1` to `$5`: subscriber, time, database, position and the size of a batch.
  var arguments: [SQLValue] {
    [
      .text(subscriber), .integer(moment), .integer(database), .integer(position),
      .integer(Retention.batch),
    ]
  }
}

/// A change of a user's notification log to be trimmed: an entry or a mark.
struct TrimmedChange: InDatabase {
  let database: DatabaseID
  /// The sequence of an entry, or the position of a mark.
  let position: Int64
  /// The user of the log.
  let subscriber: String
  /// Whether the change is at this position for readers; not so for an entry that was marked since.
  let isCurrent: Bool
  /// The ID of a mark's notification, 16 bytes; empty for an entry.
  let notificationID: [UInt8]

  /// The columns of entries, in a table that the statement calls `entries`.
  static let entryColumns =
    "database_id, sequence, subscriber, \(NotificationMarkTable.isMarked("entries"))"
  /// The columns of marks.
  static let markColumns = "database_id, position, subscriber, notification_id"

  /// Reads an entry.
  ///
  /// - Parameter row: has ``entryColumns``.
  init(entry row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    position = row.integer(1)
    subscriber = row.text(2)
    isCurrent = row.integer(3) == 0
    notificationID = []
  }

  /// Reads a mark.
  ///
  /// - Parameter row: has ``markColumns``.
  init(mark row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    position = row.integer(1)
    subscriber = row.text(2)
    isCurrent = true
    notificationID = row.bytes(3)
  }

  /// The log that the change belongs to.
  fileprivate var log: UserLog { UserLog(database: database, subscriber: subscriber) }
}

/// The log of one user in one database.
private struct UserLog: Hashable {
  var database: DatabaseID
  var subscriber: String
}

/// The deletion of changes from the notification log, its index and the marks, in one transaction.
///
/// A search for old changes covers all databases, as for all maintenance, and finds at most
/// ``Retention/batch``. Deletions run in each database and are counted. ``MaintenanceService``
/// alternates between both.
struct LogTrimming {
  private let log: NotificationLogTable
  private let index: NotificationIndexTable
  private let marks: NotificationMarkTable
  private let transaction: StoreTransaction

  /// Creates the deletion in a transaction that writes.
  init(in transaction: StoreTransaction) {
    self.transaction = transaction
    log = NotificationLogTable(transaction: transaction)
    index = NotificationIndexTable(transaction: transaction)
    marks = NotificationMarkTable(transaction: transaction)
  }

  /// Deletes entries, except those that wait in memory to be filed: they stay until the index has
  /// them.
  ///
  /// - Returns: the number of deleted entries.
  func drop(entries: [TrimmedChange]) throws -> Int {
    var dropped: [TrimmedChange] = []
    for (subscriber, entries) in Dictionary(grouping: entries, by: \.subscriber) {
      let unfiled = Set(
        try index.unfiledRows(of: subscriber).map { [$0.database.rawValue, $0.sequence] })
      dropped += entries.filter { !unfiled.contains([$0.database.rawValue, $0.position]) }
    }
    for (log, entries) in Dictionary(grouping: dropped, by: \.log) {
      try drop(entries.map(\.position), of: log)
    }
    try noteTrimmed(dropped)
    return dropped.count
  }

  /// Deletes marks and their entries, which would otherwise become unread again. Marks of unfiled
  /// entries stay as long as those entries.
  ///
  /// - Returns: the number of deleted marks.
  func drop(marks: [TrimmedChange]) throws -> Int {
    var dropped: [TrimmedChange] = []
    for (log, marks) in Dictionary(grouping: marks, by: \.log) {
      let unfiled = Set(
        try index.unfiledRows(of: log.subscriber).map { $0.notificationID.storedBytes })
      let marks = marks.filter { !unfiled.contains($0.notificationID) }
      let entries = try index.entries(
        of: log.subscriber, in: log.database, withIDs: Set(marks.map(\.notificationID)))
      try drop(entries.map(\.sequence), of: log)
      for mark in marks { try self.marks.drop(mark) }
      dropped += marks
    }
    try noteTrimmed(dropped)
    return dropped.count
  }

  /// Deletes entries from the log and from its index.
  private func drop(_ sequences: [Int64], of log: UserLog) throws {
    try index.drop(sequences, of: log.subscriber, in: log.database)
    try self.log.drop(sequences, in: log.database)
  }

  /// Records how far each log was trimmed, so that a reader with an older position gets an error.
  ///
  /// A marked entry counts as position 0: a reader gets the mark in its place. The log of a deleted
  /// user needs no position.
  private func noteTrimmed(_ changes: [TrimmedChange]) throws {
    var through: [UserLog: Int64] = [:]
    for change in changes {
      let position = change.isCurrent ? change.position : 0
      through[change.log] = max(through[change.log] ?? 0, position)
    }
    for (log, position) in through
    where try !UserDeletionTable(transaction: transaction).isDeleted(log.subscriber) {
      try self.log.noteTrimmed(through: position, of: log.subscriber, in: log.database)
    }
  }
}
