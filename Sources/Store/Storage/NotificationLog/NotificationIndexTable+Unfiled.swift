import CloudKitModel
import SQLEngine
import StoreModel

// Entries of the notification log that are not yet in its index by subscriber.
extension NotificationIndexTable {
  /// Selects the entries from each database's first unfiled one on, in the columns of
  /// ``NotificationIndexRow``.
  private static let unfiled = """
    SELECT subscriber, notification_log.database_id, sequence, logged, origin_device,
      notification_id, LENGTH(content)
    FROM (
      SELECT database_id, MIN(first_sequence) AS first_sequence FROM unfiled_notifications
      GROUP BY database_id) AS unfiled
    CROSS JOIN notification_log
    WHERE notification_log.database_id = unfiled.database_id AND sequence >= first_sequence
    """

  /// Selects unfiled entries that are in no run; some runs may be unfinished.
  private static let inNoRun = """
    \(unfiled) AND NOT EXISTS (
      SELECT 1 FROM notification_index
      WHERE run IN (SELECT run FROM notification_runs WHERE run = 0 OR generation IS NOT NULL)
        AND notification_index.subscriber = notification_log.subscriber
        AND notification_index.database_id = notification_log.database_id
        AND notification_index.sequence = notification_log.sequence)
    """

  /// Files all entries at once, in the first run. It is only for a store whose processes have no
  /// tail.
  func fileAll() throws {
    try connection.run(
      """
      INSERT INTO notification_index (run, \(NotificationIndexRow.columns))
      SELECT \(Self.firstRun), entries.* FROM (\(Self.inNoRun)) AS entries
      """, [])
    try connection.run("UPDATE notification_runs SET generation = NULL", [])
    try connection.run("DELETE FROM unfiled_notifications", [])
  }

  /// Returns a user's entries that may be missing in all runs of the index. Some may be in a run
  /// nevertheless, so callers drop duplicates.
  ///
  /// The result has entries of all databases. It also has those that this transaction has logged.
  ///
  /// - Complexity: O(their number). If another process files entries, or if entries were filed
  ///   since the transaction began, all unfiled entries are scanned.
  func unfiledRows(of subscriber: String) throws -> [NotificationIndexRow] {
    if let tail = transaction.tail,
      let rows = tail.rows(of: subscriber, since: transaction.wholeRuns ?? tail.wholeRuns)
    {
      return try visible(rows) + transaction.tailChange.added.filter { $0.subscriber == subscriber }
    }
    // Servers that share a store file every entry at once.
    if connection.isShared { return [] }
    return try connection.rows(
      Self.unfiled + " AND subscriber = $1", [.text(subscriber)], NotificationIndexRow.init(row:))
  }

  /// Returns the rows that the transaction sees in the log. Others may have been logged since it
  /// began, with numbers above the last drawn number that it sees.
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

  /// Reads the entries that another process left unfiled. A run that it did not finish stays as it
  /// is; its missing entries come into the next run.
  ///
  /// It is called when a server opens a store in a file.
  ///
  /// - Parameter capacity: the number of waiting entries at which a run is begun.
  static func recoverTail(
    over connection: any SQLConnection, capacity: Int
  ) throws -> NotificationTail {
    try connection.beginReading()
    do {
      let rows = try connection.rows(inNoRun, [], NotificationIndexRow.init(row:))
      let marks = try connection.rows(
        "SELECT generation, database_id FROM unfiled_notifications", []
      ) { (generation: $0.integer(0), database: DatabaseID(rawValue: $0.integer(1))) }
      let merging = try connection.first(
        "SELECT merging_into FROM notification_runs WHERE merging_into IS NOT NULL LIMIT 1", []
      ) { $0.integer(0) }
      try connection.commit()
      return NotificationTail(
        capacity: capacity, rows: rows, marked: Set(marks.map(\.database)),
        generation: marks.map(\.generation).max() ?? 1, merging: merging)
    } catch {
      connection.giveUpTransaction()
      throw error
    }
  }
}
