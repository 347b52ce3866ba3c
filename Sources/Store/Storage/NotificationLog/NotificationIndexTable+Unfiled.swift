import SQLEngine
import StoreModel

// Unfiled entries are not yet in the index.
extension NotificationIndexTable {
  private static let unfiled = """
    SELECT subscriber, notification_log.database_id, sequence, logged, origin_device,
      notification_id, LENGTH(content)
    FROM (
      SELECT database_id, MIN(first_sequence) AS first_sequence FROM unfiled_notifications
      GROUP BY database_id) AS unfiled
    CROSS JOIN notification_log
    WHERE notification_log.database_id = unfiled.database_id AND sequence >= first_sequence
    """

  /// The unfiled entries that are not even in an incomplete run.
  private static let inNoRun = """
    \(unfiled) AND NOT EXISTS (
      SELECT 1 FROM notification_index
      WHERE run IN (SELECT run FROM notification_runs WHERE run = 0 OR generation IS NOT NULL)
        AND notification_index.subscriber = notification_log.subscriber
        AND notification_index.database_id = notification_log.database_id
        AND notification_index.sequence = notification_log.sequence)
    """

  /// Files all entries in run 0. No process may have a ``NotificationTail`` of the store.
  func fileAll() throws {
    try decide(sql.unfiled.fileAll, [])
    try decide(sql.unfiled.completeAll, [])
    try decide(sql.unfiled.forgetAll, [])
  }

  /// A user's entries that may be missing in the index, also those that this transaction has
  /// logged. The index may have some of them, so callers must ignore duplicates.
  /// Empty on PostgreSQL, where every entry is filed at once.
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
      sql.unfiled.ofSubscriber, [.text(subscriber)], NotificationIndexRow.init(row:))
  }

  /// As ``unfiledRows(of:)``, in one database after a number.
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

  /// The rows in the transaction's snapshot of the store. Entries that were logged later have
  /// numbers above the database's last number in the snapshot.
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

  /// A server calls the method when it opens a store in a file or in memory. A run that the former
  /// process did not complete stays as it is; the next run gets the missing entries.
  static func recoverTail(
    over connection: any SQLConnection, capacity: Int
  ) throws -> NotificationTail {
    try connection.beginReading()
    return try connection.committing {
      let rows = try connection.rows(sql.unfiled.inNoRun, [], NotificationIndexRow.init(row:))
      let marks = try connection.rows(sql.unfiled.marks, []) {
        (generation: $0.integer(0), database: $0.database(1))
      }
      let merging = try connection.integer(sql.unfiled.merging, [])
      return NotificationTail(
        capacity: capacity, rows: rows, marked: Set(marks.map(\.database)),
        generation: marks.map(\.generation).max() ?? 1, merging: merging)
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
