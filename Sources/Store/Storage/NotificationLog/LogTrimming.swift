import SQLEngine
import StoreModel

/// The newest change to delete when a user's log is trimmed of its oldest changes. A change is an
/// entry of the log, or the *mark* that entries were read. Changes are ordered by time, then by
/// database, then by position.
struct LogCut: Sendable {
  var subscriber: String
  var moment: Int64
  var database: Int64
  var position: Int64

  init(_ subscriber: String, _ row: any SQLRow) {
    self.subscriber = subscriber
    moment = row.integer(0)
    database = row.integer(1)
    position = row.integer(2)
  }

  var arguments: [SQLValue] {
    [
      .text(subscriber), .integer(moment), .integer(database), .integer(position),
      .integer(Retention.batch),
    ]
  }
}

/// An entry or mark to be deleted from a user's log.
struct TrimmedChange: InDatabase {
  let database: DatabaseID
  let position: Int64
  let subscriber: String
  /// Whether readers of the log get this change at its position. For a marked entry they get the
  /// mark instead, at a later position.
  let isCurrent: Bool
  let notificationID: [UInt8]

  static let entryColumns =
    "database_id, sequence, subscriber, \(NotificationMarkTable.isMarked("entries"))"
  static let markColumns = "database_id, position, subscriber, notification_id"

  init(entry row: any SQLRow) {
    database = row.database(0)
    position = row.integer(1)
    subscriber = row.text(2)
    isCurrent = row.integer(3) == 0
    notificationID = []
  }

  init(mark row: any SQLRow) {
    database = row.database(0)
    position = row.integer(1)
    subscriber = row.text(2)
    isCurrent = true
    notificationID = row.bytes(3)
  }

  fileprivate var log: UserOfDatabase {
    UserOfDatabase(userRecordName: subscriber, database: database)
  }
}

/// The deletion of changes from the notification log, its index and the marks, in one transaction.
///
/// ``MaintenanceService`` repeats two steps: a read transaction finds at most ``Retention/batch``
/// old changes of all databases, and another transaction deletes and counts them.
struct LogTrimming {
  private let log: NotificationLogTable
  private let index: NotificationIndexTable
  private let marks: NotificationMarkTable
  private let transaction: StoreTransaction

  init(in transaction: StoreTransaction) {
    self.transaction = transaction
    log = NotificationLogTable(transaction: transaction)
    index = NotificationIndexTable(transaction: transaction)
    marks = NotificationMarkTable(transaction: transaction)
  }

  private static let batches = 4

  /// Deletes a user's oldest entries in one database beyond the limits, as far as a few batches
  /// go. The limits hold for all databases of a user together, so the maintenance may have to
  /// delete more.
  func trim(_ user: UserOfDatabase, to limits: NotificationLogLimits) throws {
    let cut = try index.cut(
      of: user.userRecordName, in: user.database, keeping: limits.entries, bytes: limits.bytes)
    guard let cut else { return }
    for _ in 0..<Self.batches {
      let old = try index.entries(through: cut, in: user.database)
      if try drop(entries: old) < Int(Retention.batch) { return }
    }
  }

  /// Entries that are not yet in the index (``NotificationTail``) stay. Returns their number.
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

  /// Deletes marks with their entries, which would otherwise become unread again. Marks of entries
  /// that are not yet in the index stay. Returns the number of deleted marks.
  func drop(marks: [TrimmedChange]) throws -> Int {
    var dropped: [TrimmedChange] = []
    for (log, marks) in Dictionary(grouping: marks, by: \.log) {
      let unfiled = Set(
        try index.unfiledRows(of: log.userRecordName).map { $0.notificationID.storedBytes })
      let marks = marks.filter { !unfiled.contains($0.notificationID) }
      let entries = try index.entries(
        of: log.userRecordName, in: log.database, withIDs: Set(marks.map(\.notificationID)))
      try drop(entries.map(\.sequence), of: log)
      for mark in marks { try self.marks.drop(mark) }
      dropped += marks
    }
    try noteTrimmed(dropped)
    return dropped.count
  }

  private func drop(_ sequences: [Int64], of log: UserOfDatabase) throws {
    try index.drop(sequences, of: log.userRecordName, in: log.database)
    try self.log.drop(sequences, in: log.database)
  }

  /// A reader with a position before the trimmed ones gets an error, because it may have missed
  /// changes. Marked entries do not count, because readers get the mark instead. For a deleted
  /// user, nothing is stored.
  private func noteTrimmed(_ changes: [TrimmedChange]) throws {
    var through: [UserOfDatabase: Int64] = [:]
    for change in changes {
      let position = change.isCurrent ? change.position : 0
      through[change.log] = max(through[change.log] ?? 0, position)
    }
    for (log, position) in through
    where try !UserDeletionTable(transaction: transaction).isDeleted(log.userRecordName) {
      try self.log.noteTrimmed(through: position, of: log.userRecordName, in: log.database)
    }
  }
}
