import CloudKitModel
import SQLEngine
import StoreModel

// Unfiled entries: those entries of the notification log that are not yet in its index by
// subscriber.
extension NotificationIndexTable {
  /// The statement that selects the log entries from each database's first unfiled entry on, with
  /// the columns of ``NotificationIndexRow``.
  private static let unfiled = """
    SELECT subscriber, notification_log.database_id, sequence, logged, origin_device,
      notification_id, LENGTH(content)
    FROM (
      SELECT database_id, MIN(first_sequence) AS first_sequence FROM unfiled_notifications
      GROUP BY database_id) AS unfiled
    CROSS JOIN notification_log
    WHERE notification_log.database_id = unfiled.database_id AND sequence >= first_sequence
    """

  /// The statement that selects the unfiled entries that are in no run, not even in a run that is
  /// not complete. A run is a sorted piece of the index.
  private static let inNoRun = """
    \(unfiled) AND NOT EXISTS (
      SELECT 1 FROM notification_index
      WHERE run IN (SELECT run FROM notification_runs WHERE run = 0 OR generation IS NOT NULL)
        AND notification_index.subscriber = notification_log.subscriber
        AND notification_index.database_id = notification_log.database_id
        AND notification_index.sequence = notification_log.sequence)
    """

  /// Inserts all unfiled entries into run 0 of the index. No process may have a
  /// ``NotificationTail`` of the store.
  func fileAll() throws {
    try connection.run(Self.sql.unfiled.fileAll, [])
    try connection.run(Self.sql.unfiled.completeAll, [])
    try connection.run(Self.sql.unfiled.forgetAll, [])
  }

  /// Returns a user's log entries that may be missing in the index. Some of them may be in the
  /// index, too, so callers must ignore duplicates.
  ///
  /// The result has entries of all databases, including those that this transaction has logged. It
  /// is empty on PostgreSQL, where every entry is filed at once.
  ///
  /// - Complexity: O(*n*), where *n* is the number of returned entries. If this process has no tail
  ///   of the store, or if a run was completed since the transaction began, all unfiled entries of
  ///   the store are read instead.
  func unfiledRows(of subscriber: String) throws -> [NotificationIndexRow] {
    if let tail = transaction.tail,
      let rows = tail.rows(of: subscriber, since: transaction.wholeRuns ?? tail.wholeRuns)
    {
      return try visible(rows) + transaction.tailChange.added.filter { $0.subscriber == subscriber }
    }
    // Servers on PostgreSQL file every entry at once.
    if connection.isShared { return [] }
    return try connection.rows(
      Self.sql.unfiled.ofSubscriber, [.text(subscriber)], NotificationIndexRow.init(row:))
  }

  /// Returns a user's log entries in one database after a number that may be missing in the index, as
  /// ``unfiledRows(of:)`` does.
  ///
  /// - Complexity: O(*n*), where *n* is the number of the user's unfiled entries after that number.
  func unfiledRows(
    of subscriber: String, in database: DatabaseID, after sequence: Int64
  ) throws -> [NotificationIndexRow] {
    let isAfter = { (row: NotificationIndexRow) in
      row.database == database && row.sequence > sequence
    }
    guard let tail = transaction.tail,
      let rows = tail.rows(
        of: subscriber, in: database, after: sequence,
        since: transaction.wholeRuns ?? tail.wholeRuns)
    else { return try unfiledRows(of: subscriber).filter(isAfter) }
    return try visible(rows)
      + transaction.tailChange.added.filter { $0.subscriber == subscriber && isAfter($0) }
  }

  /// Returns those of the rows whose log entries are in the transaction's snapshot of the store.
  /// Entries that were logged later have numbers above the last number of the database in the
  /// snapshot.
  private func visible(_ rows: [NotificationIndexRow]) throws -> [NotificationIndexRow] {
    let databases = DatabaseTable(transaction: transaction)
    var lastNumbers: [DatabaseID: Int64] = [:]
    return try rows.filter { row in
      let last =
        try lastNumbers[row.database] ?? databases.lastNumber(drawnIn: row.database) ?? 0
      lastNumbers[row.database] = last
      return row.sequence <= last
    }
  }

  /// Creates the tail with the log entries that a former process left unfiled. A server calls the
  /// method when it opens a store that is in a file or in memory.
  ///
  /// A run that the former process did not complete stays as it is. The next run gets the entries
  /// that are missing in it.
  ///
  /// - Parameter capacity: the number of waiting entries at which a run is begun.
  static func recoverTail(
    over connection: any SQLConnection, capacity: Int
  ) throws -> NotificationTail {
    try connection.beginReading()
    do {
      let rows = try connection.rows(sql.unfiled.inNoRun, [], NotificationIndexRow.init(row:))
      let marks = try connection.rows(
        Self.sql.unfiled.marks, []
      ) { (generation: $0.integer(0), database: DatabaseID(rawValue: $0.integer(1))) }
      let merging = try connection.first(Self.sql.unfiled.merging, []) { $0.integer(0) }
      try connection.commit()
      return NotificationTail(
        capacity: capacity, rows: rows, marked: Set(marks.map(\.database)),
        generation: marks.map(\.generation).max() ?? 1, merging: merging)
    } catch {
      connection.giveUpTransaction()
      throw error
    }
  }

  struct UnfiledStatements {
    let ofSubscriber = Statement(unfiled + " AND subscriber = $1", [.undistributed, .wholeTable])
    let inNoRun = Statement(
      NotificationIndexTable.inNoRun + " ORDER BY notification_log.database_id, sequence",
      [.undistributed, .wholeTable])
    let fileAll = """
      INSERT INTO notification_index (run, \(NotificationIndexRow.columns))
      SELECT \(firstRun), entries.* FROM (\(NotificationIndexTable.inNoRun)) AS entries
      """.except([.undistributed, .wholeTable])
    let completeAll = "UPDATE notification_runs SET generation = NULL".except(.wholeTable)
    let forgetAll = "DELETE FROM unfiled_notifications".except([.undistributed, .wholeTable])
    let marks = "SELECT generation, database_id FROM unfiled_notifications".except([
      .undistributed, .wholeTable,
    ])
    let merging = """
      SELECT merging_into FROM notification_runs WHERE merging_into IS NOT NULL LIMIT 1
      """.except(.wholeTable)
  }
}
