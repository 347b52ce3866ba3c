import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The notification log: an entry for each notification of each user. ``NotificationIndexTable``
/// finds a user's entries. `trimmed_logs` has the position up to which a user's log was trimmed of
/// its oldest entries, if it was.
struct NotificationLogTable: Table {
  let transaction: StoreTransaction

  /// - `origin_device`: the client ID of the device that made the change, if it is the
  ///   subscriber's.
  /// - `content`: the encoded subscription and change.
  /// - `unsent`: `UnsentDeliveries`; null if there is no reason.
  static let definition = [
    """
    CREATE TABLE notification_log (
      database_id BIGINT NOT NULL, sequence BIGINT NOT NULL, subscriber TEXT NOT NULL,
      origin_device TEXT, logged BIGINT NOT NULL, content BYTEA NOT NULL, notification_id BYTEA,
      unsent BIGINT, PRIMARY KEY (database_id, sequence)) /*clustered*/
    """,
    """
    CREATE TABLE trimmed_logs (
      database_id BIGINT NOT NULL, subscriber TEXT NOT NULL,
      trimmed_through BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (database_id, subscriber))
    """,
  ]

  static func append(
    _ row: NotificationIndexRow, _ content: ArraySlice<UInt8>, _ unsent: UnsentDeliveries,
    to arguments: inout SQLArguments
  ) {
    arguments.append(row.database.rawValue, row.sequence)
    arguments.append(row.subscriber)
    arguments.append(row.originDevice)
    arguments.append(row.logged.milliseconds)
    arguments.append(bytes: content.span.bytes)
    withUnsafeBytes(of: row.notificationID.uuid) { arguments.append(bytes: $0.bytes) }
    arguments.append(unsent.isEmpty ? nil : unsent.rawValue)
  }

  // MARK: Reading

  func entry(
    _ sequence: Int64, of subscriber: String, in database: DatabaseID
  ) throws -> (entry: LogEntry, size: Int) {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    let entry = try connection.first(sql.logged, [.id(database), .integer(sequence)]) { row in
      let content = row.bytes(1)
      let notification = try SubscriptionNotification(
        stored: content, database: address, subscriber: subscriber)
      let logged = row.time(0)
      return (
        LogEntry(
          database: database, sequence: sequence, notification: notification, logged: logged),
        content.count
      )
    }
    guard let entry else {
      throw StoreError(
        .corrupt,
        "an index contains entry \(sequence) of the notification log, which does not exist")
    }
    return entry
  }

  func entry(_ sequence: Int64, in database: DatabaseID) throws -> LogEntry? {
    try entries(sql.entry, of: database, [.integer(sequence)]).first
  }

  func entry(ofDelivery id: Delivery.ID) throws -> LogEntry? {
    try entries(sql.ofDelivery, of: id.database, [.integer(id.number)]).first
  }

  func entries(
    of database: DatabaseID, before sequence: Int64, limit: Int
  ) throws -> [LogEntry] {
    try entries(sql.entries, of: database, [.integer(sequence), .count(limit)])
  }

  private func entries(
    _ statement: Statement, of database: DatabaseID, _ arguments: [SQLValue]
  ) throws -> [LogEntry] {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    return try connection.rows(statement, [.id(database)] + arguments) {
      LogEntry(
        database: database, sequence: $0.integer(0),
        notification: try SubscriptionNotification(
          stored: $0.bytes(3), database: address, subscriber: $0.text(1)), logged: $0.time(2))
    }
  }

  func sequence(after sequence: Int64, in database: DatabaseID) throws -> Int64? {
    try connection.integer(sql.next, [.id(database), .integer(sequence)])
  }

  /// The scan begins at the change's number, and ends after `limit` entries or an entry that was
  /// logged after the dispatch. Deferred firings were logged later: see
  /// ``NotificationIndexTable/sequences(of:for:behind:limit:)``.
  func sequences(
    of notificationID: UUID, behind change: PastChange, limit: Int
  ) throws -> [Int64] {
    let page: Int64 = 500
    var found: [Int64] = []
    var last = change.sequence
    while true {
      let rows = try connection.rows(
        sql.sequences, [.id(change.database), .integer(last), .integer(page)]
      ) { row in
        (
          sequence: row.integer(0), logged: row.integer(1),
          isOfChange: row.isNull(2) ? false : row.bytes(2) == notificationID.storedBytes
        )
      }
      for row in rows {
        // An entry that was logged later than this change's dispatch belongs to another change.
        guard row.logged <= change.dispatched.milliseconds, found.count < limit else {
          return found
        }
        if row.isOfChange { found.append(row.sequence) }
      }
      guard rows.count == Int(page), let end = rows.last else { return found }
      last = end.sequence
    }
  }

  func unsentDeliveries(
    ofEntry sequence: Int64, in database: DatabaseID
  ) throws -> UnsentDeliveries {
    try connection.first(sql.unsent, [.id(database), .integer(sequence)]) {
      UnsentDeliveries(rawValue: $0.optionalInteger(0) ?? 0)
    } ?? []
  }

  /// Finds entries that belong to a user or contain the user's record name, among the next `count`.
  /// Returns also the last examined entry; nil at the end.
  func naming(
    _ user: String, after sequence: Int64, examining count: Int64, in database: DatabaseID
  ) throws -> (found: [Int64], end: Int64)? {
    try transaction.rows(
      by: sql.naming, naming: user, after: sequence, examining: count, in: database)
  }

  // MARK: Changing

  func setContent(_ content: [UInt8], ofEntry sequence: Int64, in database: DatabaseID) throws {
    try decide(sql.setContent, [.id(database), .integer(sequence), .bytes(content)])
  }

  /// Deletes neither the deliveries nor the row in the index.
  func remove(_ sequence: Int64, in database: DatabaseID) throws {
    try decide(sql.remove, [.id(database), .integer(sequence)])
  }

  func drop(_ sequences: [Int64], in database: DatabaseID) throws {
    var rows = SQLArguments()
    for sequence in sequences { rows.append(database.rawValue, sequence) }
    try connection.runLater(sql.drop, rows: rows)
  }

  /// At most ``Retention/batch`` entries of all databases.
  func old(before horizon: Int64) throws -> [TrimmedChange] {
    try connection.rows(
      sql.old, [.integer(horizon), .integer(Retention.batch)], TrimmedChange.init(entry:))
  }

  // MARK: Entries trimmed before they were read

  /// 0 for none. Trimmed entries with a mark do not count.
  func trimmedThrough(of subscriber: String, in database: DatabaseID) throws -> Int64 {
    try connection.integer(sql.trimmedThrough, [.id(database), .text(subscriber)]) ?? 0
  }

  func noteTrimmed(
    through position: Int64, of subscriber: String, in database: DatabaseID
  ) throws {
    try decide(sql.noteTrimmed, [.id(database), .text(subscriber), .integer(position)])
  }

  struct Statements {
    let naming = NamingStatements("notification_log", by: "sequence", orOf: "subscriber")
    let insertion = RowStatement(
      inserting: """
        notification_log (database_id, sequence, subscriber, origin_device, logged, content,
          notification_id, unsent)
        """,
      [.integer, .integer, .text, .text, .integer, .bytes, .bytes, .integer])
    let drop = RowStatement(
      deletingFrom: "notification_log", by: ["database_id": .integer, "sequence": .integer])
    let logged: Statement =
      "SELECT logged, content FROM notification_log WHERE database_id = $1 AND sequence = $2"
    let entry: Statement = """
      SELECT sequence, subscriber, logged, content FROM notification_log
      WHERE database_id = $1 AND sequence = $2
      """
    let ofDelivery: Statement = """
      SELECT sequence, subscriber, logged, content FROM notification_log
      JOIN deliveries ON deliveries.database_id = notification_log.database_id
        AND deliveries.log_sequence = notification_log.sequence
      WHERE deliveries.database_id = $1 AND number = $2
      """
    let entries: Statement = """
      SELECT sequence, subscriber, logged, content FROM notification_log
      WHERE database_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3
      """
    let next: Statement = """
      SELECT sequence FROM notification_log WHERE database_id = $1 AND sequence > $2
      ORDER BY sequence LIMIT 1
      """
    let sequences: Statement = """
      SELECT sequence, logged, notification_id FROM notification_log
      WHERE database_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
      """
    let unsent: Statement =
      "SELECT unsent FROM notification_log WHERE database_id = $1 AND sequence = $2"
    let setContent: Statement =
      "UPDATE notification_log SET content = $3 WHERE database_id = $1 AND sequence = $2"
    let remove: Statement = "DELETE FROM notification_log WHERE database_id = $1 AND sequence = $2"
    let old = """
      SELECT \(TrimmedChange.entryColumns) FROM notification_log AS entries WHERE logged < $1
      ORDER BY database_id, sequence LIMIT $2
      """.except([.everyDatabase, .wholeTable])
    let trimmedThrough: Statement =
      "SELECT trimmed_through FROM trimmed_logs WHERE database_id = $1 AND subscriber = $2"
    let noteTrimmed: Statement = """
      INSERT INTO trimmed_logs (database_id, subscriber, trimmed_through) VALUES ($1, $2, $3)
      ON CONFLICT (database_id, subscriber) DO UPDATE
      SET trimmed_through = excluded.trimmed_through
      WHERE trimmed_logs.trimmed_through < excluded.trimmed_through
      """
  }
  static let sql = Statements()
}
