import CloudKitModel
import SQLEngine
import StoreModel

/// How much of a user's notification log goes: up to this change, in order of time.
struct LogCut: Sendable {
  var subscriber: String
  var moment: Int64
  var database: Int64
  var position: Int64

  fileprivate init(_ subscriber: String, _ row: any SQLRow) {
    self.subscriber = subscriber
    moment = row.integer(0)
    database = row.integer(1)
    position = row.integer(2)
  }

  fileprivate var arguments: [SQLValue] {
    [
      .text(subscriber), .integer(moment), .integer(database), .integer(position),
      .integer(Retention.batch),
    ]
  }
}

/// What is logged for one user in one database.
private struct UserLog: Hashable {
  var database: DatabaseID
  var subscriber: String
}

/// A change of a user's notification log that goes.
struct TrimmedChange: InDatabase {
  let database: DatabaseID
  fileprivate var position: Int64
  fileprivate var subscriber: String
  /// Whether readers learnt of it at this position: not so for an entry that was marked since.
  fileprivate var isCurrent: Bool
  /// Of a mark only.
  fileprivate var notificationID: [UInt8] = []

  fileprivate var log: UserLog { UserLog(database: database, subscriber: subscriber) }

  fileprivate init(entry row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    position = row.integer(1)
    subscriber = row.text(2)
    isCurrent = row.integer(3) == 0
  }

  fileprivate init(mark row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    position = row.integer(1)
    subscriber = row.text(2)
    isCurrent = true
    notificationID = row.bytes(3)
  }
}

// What goes is looked for in all databases, as for all maintenance, and dropped in each. What is looked
// for is a batch at most; what is dropped is counted.
extension StoreSession {
  private static let entryColumns = """
    database_id, sequence, subscriber, EXISTS (
      SELECT 1 FROM notification_marks
      WHERE notification_marks.database_id = entries.database_id
        AND notification_marks.subscriber = entries.subscriber
        AND notification_marks.notification_id = entries.notification_id)
    """
  private static let markColumns = "database_id, position, subscriber, notification_id"

  // MARK: Entries

  func entries(before horizon: Int64) throws -> [TrimmedChange] {
    try connection.rows(
      """
      SELECT \(Self.entryColumns) FROM notification_log AS entries WHERE logged < $1
      ORDER BY database_id, sequence LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)], TrimmedChange.init(entry:))
  }

  /// The subscribers with too many log entries, with the newest entry that goes.
  ///
  /// - Parameters:
  ///   - count: how many entries a subscriber may have.
  ///   - bytes: how many bytes their contents may have together.
  func overfullLogs(keeping count: Int, bytes: Int) throws -> [LogCut] {
    // One of the runs has a good part of what is too much.
    let overfull = try connection.rows(
      """
      SELECT DISTINCT subscriber FROM (
        SELECT subscriber FROM notification_index GROUP BY run, subscriber
        HAVING COUNT(*) > $1 / (SELECT COUNT(*) FROM notification_runs)
          OR SUM(bytes) > $2 / (SELECT COUNT(*) FROM notification_runs)) AS full_runs
      """, [.integer(Int64(count)), .integer(Int64(bytes))]
    ) { $0.text(0) }
    return try overfull.compactMap { subscriber in
      var (kept, keptBytes) = (0, 0)
      // Newest first: there are some thousands that stay, whatever there is.
      return try connection.rows(
        """
        SELECT logged, database_id, sequence, bytes
        FROM notification_runs CROSS JOIN notification_index
        WHERE notification_index.run = notification_runs.run AND subscriber = $1
        ORDER BY logged DESC, database_id DESC, sequence DESC LIMIT $2
        """, [.text(subscriber), .integer(Int64(count) + 1)]
      ) { (cut: LogCut(subscriber, $0), bytes: Int($0.integer(3))) }.first { row in
        kept += 1
        keptBytes += row.bytes
        return kept > count || keptBytes > bytes
      }?.cut
    }
  }

  func entries(through cut: LogCut) throws -> [TrimmedChange] {
    try connection.rows(
      """
      SELECT \(Self.entryColumns)
      FROM notification_runs CROSS JOIN notification_index AS entries
      WHERE entries.run = notification_runs.run
        AND subscriber = $1 AND (logged, database_id, sequence) <= ($2, $3, $4) LIMIT $5
      """, cut.arguments, TrimmedChange.init(entry:))
  }

  /// Drops entries, but for those that memory has for the index: they stay until it has them alone.
  func drop(entries: [TrimmedChange]) throws -> Int {
    var dropped: [TrimmedChange] = []
    for (subscriber, entries) in Dictionary(grouping: entries, by: \.subscriber) {
      let unfiled = Set(
        try unfiledRows(of: subscriber).map { [$0.database.rawValue, $0.sequence] })
      dropped += entries.filter { !unfiled.contains([$0.database.rawValue, $0.position]) }
    }
    for (log, entries) in Dictionary(grouping: dropped, by: \.log) {
      try drop(entries: entries.map(\.position), of: log.subscriber, in: log.database)
    }
    try noteTrimmed(dropped)
    return dropped.count
  }

  /// Deletes entries from the index and the log.
  private func drop(
    entries sequences: [Int64], of subscriber: String, in database: DatabaseID
  ) throws {
    try delete(
      """
      DELETE FROM notification_index
      WHERE run IN (SELECT run FROM notification_runs)
        AND subscriber = $1 AND database_id = $2 AND sequence IN
      """, [.text(subscriber), .integer(database.rawValue)], numbers: sequences)
    try delete(
      "DELETE FROM notification_log WHERE database_id = $1 AND sequence IN",
      [.integer(database.rawValue)], numbers: sequences)
  }

  // MARK: Marks

  func marks(before horizon: Int64) throws -> [TrimmedChange] {
    try connection.rows(
      """
      SELECT \(Self.markColumns) FROM notification_marks WHERE marked < $1
      ORDER BY database_id, subscriber, position LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)], TrimmedChange.init(mark:))
  }

  /// The subscribers with too many marks, with the newest mark that goes.
  ///
  /// - Parameter count: how many marks a subscriber may have.
  func overfullMarks(keeping count: Int) throws -> [LogCut] {
    let overfull = try connection.rows(
      "SELECT subscriber FROM notification_marks GROUP BY subscriber HAVING COUNT(*) > $1",
      [.integer(Int64(count))]
    ) { $0.text(0) }
    return try overfull.compactMap { subscriber in
      try connection.first(
        """
        SELECT marked, database_id, position FROM notification_marks WHERE subscriber = $1
        ORDER BY marked DESC, database_id DESC, position DESC LIMIT 1 OFFSET $2
        """, [.text(subscriber), .integer(Int64(count))]
      ) { LogCut(subscriber, $0) }
    }
  }

  func marks(through cut: LogCut) throws -> [TrimmedChange] {
    try connection.rows(
      """
      SELECT \(Self.markColumns) FROM notification_marks
      WHERE subscriber = $1 AND (marked, database_id, position) <= ($2, $3, $4) LIMIT $5
      """, cut.arguments, TrimmedChange.init(mark:))
  }

  /// Drops marks, and the entries that they are for: without the mark they would be unread again. The
  /// marks of entries that are not filed stay as those do.
  func drop(marks: [TrimmedChange]) throws -> Int {
    var dropped: [TrimmedChange] = []
    for (log, marks) in Dictionary(grouping: marks, by: \.log) {
      let unfiled = Set(
        try unfiledRows(of: log.subscriber).map { $0.notificationID.storedBytes })
      let marks = marks.filter { !unfiled.contains($0.notificationID) }
      let entries = try logEntries(
        of: log.subscriber, in: log.database.rawValue, withIDs: Set(marks.map(\.notificationID)))
      try drop(entries: entries.map(\.sequence), of: log.subscriber, in: log.database)
      for mark in marks { try drop(mark: mark) }
      dropped += marks
    }
    try noteTrimmed(dropped)
    return dropped.count
  }

  private func drop(mark: TrimmedChange) throws {
    try connection.run(
      """
      DELETE FROM notification_marks
      WHERE database_id = $1 AND subscriber = $2 AND notification_id = $3
      """, [.integer(mark.database.rawValue), .text(mark.subscriber), .bytes(mark.notificationID)])
  }

  // MARK: What readers have missed

  /// Keeps that each log was trimmed, and how far, so that readers who had not come so far are told.
  private func noteTrimmed(_ changes: [TrimmedChange]) throws {
    var through: [UserLog: Int64] = [:]
    for change in changes {
      let position = change.isCurrent ? change.position : 0
      through[change.log] = max(through[change.log] ?? 0, position)
    }
    for (log, position) in through where try !isDeleted(log.subscriber) {
      try connection.run(
        """
        INSERT INTO trimmed_logs (database_id, subscriber, trimmed_through) VALUES ($1, $2, $3)
        ON CONFLICT (database_id, subscriber) DO UPDATE
        SET trimmed_through = excluded.trimmed_through
        WHERE trimmed_logs.trimmed_through < excluded.trimmed_through
        """, [.integer(log.database.rawValue), .text(log.subscriber), .integer(position)])
    }
  }
}
