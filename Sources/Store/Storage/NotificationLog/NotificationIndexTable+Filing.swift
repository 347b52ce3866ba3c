import Foundation
import SQLEngine
import StoreModel

// The words are those of ``NotificationIndexTable`` and ``NotificationTail``.
extension NotificationIndexTable {
  /// Files all entries that a former server had in memory, in one transaction. No other process
  /// may have the store open.
  package static func fileAll(over connection: any SQLConnection) throws {
    guard try connection.exists(sql.filing.anyUnfiled, []) else { return }
    try connection.beginWriting()
    let transaction = StoreTransaction(over: StoreConnection(over: connection, try StoreContext()))
    try NotificationIndexTable(transaction: transaction).fileAll()
    try connection.commit()
  }

  /// The firings of a change at which its entries are filed at once and not kept in memory. So
  /// many, in the order of subscribers, change few pages of the index for each entry.
  static let firingsFiledAtOnce = 200
  /// The run of entries that are filed at once, which is never merged.
  static let firstRun: Int64 = 0
  /// The complete runs of a tier at which they are merged into one run of the next tier.
  private static let runsMerged = 8

  /// Files waiting entries and merges runs, on the writing thread before each commit.
  ///
  /// The work is spread over the commits that log entries: each files about twice as many entries
  /// as it adds. A run begins when the tail is full (``NotificationTail/isFull``), or earlier if
  /// ``StoreTransaction/filingRequest`` is set. When a run is complete, a merge may begin.
  func fileWaiting() throws {
    guard let tail = transaction.tail else { return }
    let budget = max(2 * transaction.tailChange.added.count, transaction.filingRequest)
    guard budget > 0 else { return }
    let filing = tail.filing
    let isDue = transaction.filingRequest > 0 ? tail.waitingCount > 0 : tail.isFull
    if filing == nil, isDue { transaction.tailChange.begun = try beginRun(of: tail.generation) }
    try markUnfiled(in: tail)
    if let filing { try file(filing.next(budget), of: filing) }
    if let target = tail.merging {
      try merge(into: target, rows: budget)
    } else if transaction.tailChange.isWhole {
      try beginMerging()
    }
  }

  /// Lets the next process find unfiled entries in the log if this one ends.
  private func markUnfiled(in tail: NotificationTail) throws {
    let generation = tail.generation + (transaction.tailChange.begun == nil ? 0 : 1)
    var known: DatabaseID?
    for row in transaction.tailChange.added where row.database != known {
      known = row.database
      let isMarked = transaction.tailChange.begun == nil && tail.isMarked(row.database)
      guard !isMarked, !transaction.tailChange.marked.contains(row.database) else { continue }
      try decide(
        sql.filing.markUnfiled, [.integer(generation), .id(row.database), .integer(row.sequence)])
      transaction.tailChange.marked.append(row.database)
    }
  }

  // MARK: Runs

  private func beginRun(of generation: Int64) throws -> Int64 {
    let run = try nextRun()
    try decide(sql.filing.beginRun, [.integer(run), .integer(generation)])
    return run
  }

  private func nextRun() throws -> Int64 {
    try connection.integer(sql.filing.nextRun, []) ?? 1
  }

  /// After the last, the run is complete and its generation has no unfiled entries.
  private func file(
    _ next: (rows: [NotificationIndexRow], subscribers: Int, isLast: Bool),
    of filing: NotificationTail.Filing
  ) throws {
    var insertion = RowInsertion(sql.insertion)
    for row in next.rows {
      try insertion.add(in: connection) { row.appendArguments(run: filing.run, to: &$0) }
    }
    try insertion.finish(in: connection)
    transaction.tailChange.filedSubscribers = next.subscribers
    guard next.isLast else { return }
    transaction.tailChange.isWhole = true
    try decide(sql.filing.completeRuns, [.integer(filing.generation)])
    try decide(sql.filing.forgetUnfiled, [.integer(filing.generation)])
  }

  // MARK: Merging

  /// Merges the complete runs of the lowest tier with at least ``runsMerged``.
  private func beginMerging() throws {
    let tier = try connection.integer(sql.filing.fullTier, [.count(Self.runsMerged)])
    guard let tier else { return }
    let run = try nextRun()
    try decide(sql.filing.mergeTier, [.integer(run), .integer(tier)])
    try decide(sql.filing.addRun, [.integer(run), .integer(tier + 1)])
    transaction.tailChange.merging = run
  }

  /// Readers search all runs, so they find each row in one run at any time. Empty merged runs are
  /// deleted; then another merge may begin.
  private func merge(into target: Int64, rows: Int) throws {
    let sources = try connection.integers(sql.filing.merging, [.integer(target)])
    let share = Int64(max(1, rows / max(1, sources.count)))
    guard let last = try sources.compactMap({ try subscriber(after: share, in: $0) }).min() else {
      try decide(sql.filing.dropMerged, [.integer(target)])
      transaction.tailChange.endsMerging = true
      return try beginMerging()
    }
    let arguments: [SQLValue] = [.integer(target), .text(last)]
    try decide(sql.filing.mergeRows, arguments)
    try decide(sql.filing.dropRows, arguments)
  }

  /// For a shorter run, returns the subscriber of its last row.
  private func subscriber(after count: Int64, in run: Int64) throws -> String? {
    try connection.text(sql.filing.subscriberAfter, [.integer(run), .integer(count)])
      ?? connection.text(sql.filing.lastSubscriber, [.integer(run)])
  }

  struct FilingStatements {
    let anyUnfiled = "SELECT 1 FROM unfiled_notifications LIMIT 1".except([
      .everyDatabase, .wholeTable,
    ])
    let markUnfiled: Statement = """
      INSERT INTO unfiled_notifications (generation, database_id, first_sequence)
      VALUES ($1, $2, $3)
      """
    let beginRun: Statement =
      "INSERT INTO notification_runs (run, tier, generation) VALUES ($1, 0, $2)"
    let nextRun: Statement = "SELECT MAX(run) + 1 FROM notification_runs"
    let completeRuns = "UPDATE notification_runs SET generation = NULL WHERE generation <= $1"
      .except(.wholeTable)
    let forgetUnfiled = "DELETE FROM unfiled_notifications WHERE generation <= $1".except(
      .undistributed)
    let fullTier = """
      SELECT tier FROM notification_runs
      WHERE run > 0 AND generation IS NULL AND merging_into IS NULL
      GROUP BY tier HAVING COUNT(*) >= $1 ORDER BY tier LIMIT 1
      """.except(.wholeTable)
    let mergeTier = """
      UPDATE notification_runs SET merging_into = $1
      WHERE run > 0 AND generation IS NULL AND merging_into IS NULL AND tier = $2
      """.except(.wholeTable)
    let addRun: Statement = "INSERT INTO notification_runs (run, tier) VALUES ($1, $2)"
    let merging = "SELECT run FROM notification_runs WHERE merging_into = $1".except(.wholeTable)
    let dropMerged = "DELETE FROM notification_runs WHERE merging_into = $1".except(.wholeTable)
    let mergeRows: Statement = """
      INSERT INTO notification_index (run, \(NotificationIndexRow.columns))
      SELECT $1, \(NotificationIndexRow.columns) FROM notification_index
      WHERE run IN (SELECT run FROM notification_runs WHERE merging_into = $1) AND subscriber <= $2
      ORDER BY subscriber, database_id, sequence
      """
    let dropRows = """
      DELETE FROM notification_index
      WHERE run IN (SELECT run FROM notification_runs WHERE merging_into = $1) AND subscriber <= $2
      """.except(.undistributed)
    let subscriberAfter = """
      SELECT subscriber FROM notification_index WHERE run = $1
      ORDER BY subscriber, database_id, sequence LIMIT 1 OFFSET $2
      """.except(.undistributed)
    let lastSubscriber = """
      SELECT subscriber FROM notification_index WHERE run = $1
      ORDER BY subscriber DESC, database_id DESC, sequence DESC LIMIT 1
      """.except(.undistributed)
  }
}
