import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The notification log's index by subscriber: a log-structured merge tree (O'Neil, Cheng, Gawlick
/// and O'Neil, 1996).
///
/// The index consists of *runs*. A run is a sorted piece of the index, made of many log entries at
/// once. Readers search all runs. When a *tier* has several runs, they are merged into one run of
/// the next tier.
///
/// An ordinary index changes a random page for each notification, which took a third of the cost
/// of a save that fires ten subscriptions. So entries wait in memory (``NotificationTail``) until
/// a run is made of them. *Filing* inserts their rows. Run 0 has the entries that were filed at
/// once.
package struct NotificationIndexTable: Table {
  let transaction: StoreTransaction

  /// - `tier`: how often the rows of a run were merged.
  /// - `generation`: the group of entries of which a run is being made; null for a complete run.
  /// - `merging_into`: the run into which the rows are being moved.
  /// - `bytes`: the size of an entry's content, for the limit of a user's log.
  /// - `first_sequence`: a database's first unfiled entry of a generation. This and later ones are
  ///   in run 0, in a run that is being made, or in no run.
  static let definition = [
    """
    CREATE TABLE notification_runs (
      run BIGINT PRIMARY KEY, tier BIGINT NOT NULL, generation BIGINT, merging_into BIGINT)
    """,
    "INSERT INTO notification_runs (run, tier) VALUES (0, 0)",
    """
    CREATE TABLE notification_index (
      run BIGINT NOT NULL, subscriber TEXT NOT NULL, database_id BIGINT NOT NULL,
      sequence BIGINT NOT NULL, logged BIGINT NOT NULL, origin_device TEXT, notification_id BYTEA,
      bytes BIGINT NOT NULL, PRIMARY KEY (run, subscriber, database_id, sequence)) /*clustered*/
    """,
    """
    CREATE TABLE unfiled_notifications (
      generation BIGINT NOT NULL, database_id BIGINT NOT NULL, first_sequence BIGINT NOT NULL,
      PRIMARY KEY (generation, database_id)) /*clustered*/
    """,
  ]

  // MARK: Reading

  /// Unread entries of a user's log after a position, in no order.
  ///
  /// - Parameters:
  ///   - limit: the number of entries read from the index, and again of unfiled ones.
  ///   - unfiled: the result of ``unfiledRows(of:)``.
  func unread(
    of subscriber: String, in database: DatabaseID, after position: Int64, limit: Int,
    unfiled: [NotificationIndexRow]
  ) throws -> [(sequence: Int64, logged: Timestamp)] {
    let filed = try connection.rows(
      sql.unread, [.id(database), .text(subscriber), .integer(position), .count(limit)]
    ) { (sequence: $0.integer(0), logged: $0.time(1)) }
    // The index may have some of these rows, too; the dictionary below removes duplicates.
    let rows = unfiled.filter { $0.database == database && $0.sequence > position }
    let marks = NotificationMarkTable(transaction: transaction)
    var unread: [(sequence: Int64, logged: Timestamp)] = []
    for row in rows.sorted(by: { $0.sequence < $1.sequence }) where unread.count < limit {
      if try !marks.isMarked(row.notificationID, of: subscriber, in: database) {
        unread.append((row.sequence, row.logged))
      }
    }
    return Dictionary(filed + unread, uniquingKeysWith: { first, _ in first })
      .map { (sequence: $0.key, logged: $0.value) }
  }

  /// Without changes that the device itself made.
  func entries(
    for device: DeviceToken, in database: DatabaseID, after position: Int64, limit: Int
  ) throws -> [(sequence: Int64, logged: Timestamp)] {
    let filed = try connection.rows(
      sql.entries,
      [
        .id(database), .text(device.userRecordName), .integer(position), SQLValue(device.deviceID),
        .count(limit),
      ]
    ) { (sequence: $0.integer(0), logged: $0.time(1)) }
    let unfiled = try unfiledRows(
      of: device.userRecordName, in: database, after: position
    ).lazy.filter { $0.originDevice == nil || $0.originDevice != device.deviceID }
      .map { (sequence: $0.sequence, logged: $0.logged) }
    // The index may have some of the unfiled entries, too.
    let entries = Dictionary(filed + unfiled, uniquingKeysWith: { first, _ in first })
    return entries.sorted { $0.key < $1.key }.prefix(limit).map {
      (sequence: $0.key, logged: $0.value)
    }
  }

  /// In no order. Each ID has 16 bytes.
  ///
  /// - Complexity: O(*n*), where *n* is the number of the user's entries in the database.
  func entries(
    of subscriber: String, in database: DatabaseID, withIDs notificationIDs: Set<[UInt8]>
  ) throws -> [(sequence: Int64, notificationID: [UInt8])] {
    var entries: [Int64: [UInt8]] = [:]
    try connection.query(sql.withIDs, [.id(database), .text(subscriber)]) { row in
      let notificationID = row.bytes(1)
      if notificationIDs.contains(notificationID) { entries[row.integer(0)] = notificationID }
    }
    for row in try unfiledRows(of: subscriber) where row.database == database {
      let notificationID = row.notificationID.storedBytes
      if notificationIDs.contains(notificationID) { entries[row.sequence] = notificationID }
    }
    return entries.map { ($0.key, $0.value) }
  }

  /// A log with a million entries has about ten runs.
  private func runs() throws -> [Int64] {
    try connection.integers(sql.runs, [])
  }

  /// In order, after the change's number: deferred firings were logged after its dispatch.
  func sequences(
    of notificationID: UUID, for subscriber: String, behind change: PastChange, limit: Int
  ) throws -> [Int64] {
    var found = Set(
      try unfiledRows(of: subscriber).filter {
        $0.database == change.database && $0.notificationID == notificationID
      }.map(\.sequence))
    for run in try runs() {
      found.formUnion(
        try connection.integers(
          sql.withID,
          [
            .integer(run), .text(subscriber), .id(change.database), .integer(change.sequence),
            .bytes(notificationID.storedBytes), .count(limit),
          ]))
    }
    return Array(found.sorted().prefix(limit))
  }

  /// Newest first, at most 2,000: a limit for the time of a search for one subscription's entries.
  func latestSequences(
    of subscriber: String, in database: DatabaseID
  ) throws -> some Sequence<Int64> {
    let budget = 2_000
    var sequences = Set(
      try unfiledRows(of: subscriber).filter { $0.database == database }.map(\.sequence))
    for run in try runs() {
      sequences.formUnion(
        try connection.integers(
          sql.latest, [.integer(run), .text(subscriber), .id(database), .count(budget)]))
    }
    return sequences.sorted(by: >).prefix(budget)
  }

  // MARK: Retention

  /// In all databases. ``cut(of:keeping:bytes:)`` says whether a log exceeds its limits.
  ///
  /// - Complexity: O(*n*), where *n* is the number of rows of the index.
  func overfull(keeping count: Int, bytes: Int) throws -> [String] {
    // A subscriber above a limit has, in at least one run, more than the limit divided by the
    // number of runs.
    try connection.texts(sql.overfull, [.count(count), .count(bytes)])
  }

  /// The newest entry to delete from a subscriber's log, in one or in all databases; nil if the
  /// log exceeds no limit.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of the subscriber's entries in the index.
  func cut(
    of subscriber: String, in database: DatabaseID? = nil, keeping count: Int, bytes: Int
  ) throws -> LogCut? {
    var (kept, keptBytes) = (0, 0)
    // The newest entries come first. At most `count` entries are kept, so reading one more is
    // enough to find the newest entry to delete.
    return try connection.rows(
      database == nil ? sql.newest : sql.newestInDatabase,
      [.text(subscriber), .integer(Int64(count) + 1)]
        + (database.map { [.integer($0.rawValue)] } ?? [])
    ) { (cut: LogCut(subscriber, $0), bytes: $0.count(3)) }.first { row in
      kept += 1
      keptBytes += row.bytes
      return kept > count || keptBytes > bytes
    }?.cut
  }

  func entries(
    through cut: LogCut, in database: DatabaseID? = nil
  ) throws -> [TrimmedChange] {
    try connection.rows(
      database == nil ? sql.through : sql.throughInDatabase,
      cut.arguments + (database.map { [.integer($0.rawValue)] } ?? []), TrimmedChange.init(entry:))
  }

  func drop(_ sequences: [Int64], of subscriber: String, in database: DatabaseID) throws {
    var rows = SQLArguments()
    for sequence in sequences {
      rows.append(subscriber)
      rows.append(database.rawValue, sequence)
    }
    try connection.runLater(sql.drop, rows: rows)
  }

  /// Serves the deletion of the user. Returns the number of deleted rows, at most `limit`.
  func remove(of subscriber: String, in database: DatabaseID, limit: Int64) throws -> Int {
    try connection.run(sql.removeSome, [.id(database), .text(subscriber), .integer(limit)])
  }

  struct Statements {
    let filing = FilingStatements()
    let unfiled = UnfiledStatements()
    let insertion = RowStatement(
      inserting: "notification_index (run, \(NotificationIndexRow.columns))",
      [.integer, .text, .integer, .integer, .integer, .text, .bytes, .integer])
    let newest = newestEntries("", .everyDatabase)
    let newestInDatabase = newestEntries(" AND database_id = $3")
    let through = entriesThrough("", .everyDatabase)
    let throughInDatabase = entriesThrough(" AND database_id = $6")
    let drop = RowStatement(
      """
      DELETE FROM notification_index WHERE run IN (SELECT run FROM notification_runs)
        AND subscriber = $1 AND database_id = $2 AND sequence = $3
      """, [.text, .integer, .integer]
    ) {
      """
      DELETE FROM notification_index USING notification_runs CROSS JOIN \($0)
      WHERE notification_index.run = notification_runs.run AND subscriber = c1 COLLATE "C"
        AND database_id = c2 AND sequence = c3
      """
    }
    let unread: Statement = """
      SELECT sequence, logged FROM notification_runs CROSS JOIN notification_index
      WHERE notification_index.run = notification_runs.run
        AND database_id = $1 AND subscriber = $2 AND sequence > $3
        AND NOT \(NotificationMarkTable.isMarked("notification_index"))
      ORDER BY sequence LIMIT $4
      """
    let entries: Statement = """
      SELECT sequence, logged FROM notification_runs CROSS JOIN notification_index
      WHERE notification_index.run = notification_runs.run
        AND database_id = $1 AND subscriber = $2 AND sequence > $3
        AND (origin_device IS NULL OR origin_device <> COALESCE($4, ''))
      ORDER BY sequence LIMIT $5
      """
    let withIDs: Statement = """
      SELECT sequence, notification_id FROM notification_runs CROSS JOIN notification_index
      WHERE notification_index.run = notification_runs.run
        AND database_id = $1 AND subscriber = $2
      """
    let runs = "SELECT run FROM notification_runs".except(.wholeTable)
    let withID: Statement = """
      SELECT sequence FROM notification_index
      WHERE run = $1 AND subscriber = $2 AND database_id = $3 AND sequence > $4
        AND notification_id = $5
      ORDER BY sequence LIMIT $6
      """
    let latest: Statement = """
      SELECT sequence FROM notification_index
      WHERE run = $1 AND subscriber = $2 AND database_id = $3 ORDER BY sequence DESC LIMIT $4
      """
    let overfull = """
      SELECT DISTINCT subscriber FROM (
        SELECT subscriber FROM notification_index GROUP BY run, subscriber
        HAVING COUNT(*) > $1 / (SELECT COUNT(*) FROM notification_runs)
          OR SUM(bytes) > $2 / (SELECT COUNT(*) FROM notification_runs)) AS full_runs
      """.except([.everyDatabase, .wholeTable])
    let removeSome: Statement = """
      DELETE FROM notification_index WHERE database_id = $1 AND (run, subscriber, sequence) IN (
        SELECT entries.run, entries.subscriber, entries.sequence
        FROM notification_runs CROSS JOIN notification_index AS entries
        WHERE entries.run = notification_runs.run AND entries.subscriber = $2
          AND entries.database_id = $1 LIMIT $3)
        AND run IN (SELECT run FROM notification_runs) AND subscriber = $2
      """
  }
  static let sql = Statements()

  private static func newestEntries(
    _ condition: String, _ traits: Statement.Traits = []
  ) -> Statement {
    """
    SELECT logged, database_id, sequence, bytes
    FROM notification_runs CROSS JOIN notification_index
    WHERE notification_index.run = notification_runs.run AND subscriber = $1\(condition)
    ORDER BY logged DESC, database_id DESC, sequence DESC LIMIT $2
    """.except(traits)
  }

  private static func entriesThrough(
    _ condition: String, _ traits: Statement.Traits = []
  ) -> Statement {
    """
    SELECT \(TrimmedChange.entryColumns)
    FROM notification_runs CROSS JOIN notification_index AS entries
    WHERE entries.run = notification_runs.run
      AND subscriber = $1 AND (logged, database_id, sequence) <= ($2, $3, $4)\(condition) LIMIT $5
    """.except(traits)
  }
}
