import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The notification log: an entry for each notification of each user. The table `trimmed_logs` has
/// the position up to which each user's log was trimmed.
///
/// Trimming deletes the oldest entries of a log. `trimmed_logs` has rows only for users whose log
/// was trimmed.
///
/// The primary key does not order the entries by user. ``NotificationIndexTable`` is the index by
/// which a user's entries are found.
struct NotificationLogTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// The tables of entries and of trimmed logs.
  ///
  /// - `sequence` is the entry's number in the database, which rises from commit to commit.
  /// - `origin_device` is the client ID of the device that made the change, if it is a device of
  ///   the subscriber.
  /// - `logged` is in milliseconds since 1970.
  /// - `content` has the encoded subscription and change.
  /// - `unsent` has the reasons why some of the subscriber's devices have no delivery
  ///   (`UnsentDeliveries`). It is null if there is no reason.
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

  /// The statement that inserts entries. Each entry has eight arguments (``append(_:_:_:to:)``).
  static let insertion = RowStatement(
    inserting: """
      notification_log (database_id, sequence, subscriber, origin_device, logged, content,
        notification_id, unsent)
      """,
    [.integer, .integer, .text, .text, .integer, .bytes, .bytes, .integer])

  /// Appends the arguments of ``insertion`` for one entry.
  ///
  /// - Parameters:
  ///   - row: the entry's row in the index by subscriber.
  ///   - content: the encoded notification.
  ///   - unsent: the reasons why some devices have no delivery; empty if there are none.
  static func append(
    _ row: NotificationIndexRow, _ content: ArraySlice<UInt8>, _ unsent: UnsentDeliveries,
    to arguments: inout SQLArguments
  ) {
    arguments.append(row.database.rawValue)
    arguments.append(row.sequence)
    arguments.append(row.subscriber)
    arguments.append(row.originDevice)
    arguments.append(row.logged.milliseconds)
    arguments.append(bytes: content.span.bytes)
    withUnsafeBytes(of: row.notificationID.uuid) { arguments.append(bytes: $0.bytes) }
    arguments.append(unsent.isEmpty ? nil : unsent.rawValue)
  }

  // MARK: Reading

  /// Returns an entry of a user's log that an index names, with the size of the stored content in
  /// bytes.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if there is no such entry.
  func entry(
    _ sequence: Int64, of subscriber: String, in database: DatabaseID
  ) throws -> (entry: LogEntry, size: Int) {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    let entry = try connection.first(
      "SELECT logged, content FROM notification_log WHERE database_id = $1 AND sequence = $2",
      [.integer(database.rawValue), .integer(sequence)]
    ) { row in
      let content = row.bytes(1)
      let notification = try SubscriptionNotification(
        stored: content, database: address, subscriber: subscriber)
      let logged = Timestamp(milliseconds: row.integer(0))
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

  /// Returns an entry of any user; nil if the entry was deleted.
  func entry(_ sequence: Int64, in database: DatabaseID) throws -> LogEntry? {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    return try connection.first(
      """
      SELECT sequence, subscriber, logged, content FROM notification_log
      WHERE database_id = $1 AND sequence = $2
      """, [.integer(database.rawValue), .integer(sequence)]
    ) { try LogEntry(row: $0, database: database, address: address) }
  }

  /// Returns the entry of a delivery; nil if the delivery or the entry was deleted.
  func entry(ofDelivery id: Delivery.ID) throws -> LogEntry? {
    let address = try DatabaseTable(transaction: transaction).address(of: id.database)
    return try connection.first(
      """
      SELECT sequence, subscriber, logged, content FROM notification_log
      JOIN deliveries ON deliveries.database_id = notification_log.database_id
        AND deliveries.log_sequence = notification_log.sequence
      WHERE deliveries.database_id = $1 AND number = $2
      """, [.integer(id.database.rawValue), .integer(id.number)]
    ) { try LogEntry(row: $0, database: id.database, address: address) }
  }

  /// Returns the last entries of all users before the number `sequence`, newest first, at most
  /// `limit`.
  func entries(
    of database: DatabaseID, before sequence: Int64, limit: Int
  ) throws -> [LogEntry] {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    return try connection.rows(
      """
      SELECT sequence, subscriber, logged, content FROM notification_log
      WHERE database_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3
      """, [.integer(database.rawValue), .integer(sequence), .integer(Int64(limit))]
    ) { try LogEntry(row: $0, database: database, address: address) }
  }

  /// Returns the number of the next entry of any user after `sequence`; nil if there is none.
  func sequence(after sequence: Int64, in database: DatabaseID) throws -> Int64? {
    try connection.first(
      """
      SELECT sequence FROM notification_log WHERE database_id = $1 AND sequence > $2
      ORDER BY sequence LIMIT 1
      """, [.integer(database.rawValue), .integer(sequence)]
    ) { $0.integer(0) }
  }

  /// Returns the numbers of a change's entries of all users, in order. The method scans the log
  /// from the change's number on, until it finds `limit` entries or an entry that was logged after
  /// the change was dispatched.
  /// It does not find the entries of a subscriber whose firings were deferred, because these were
  /// logged later. ``NotificationIndexTable/sequences(of:for:behind:limit:)`` does.
  ///
  /// - Parameters:
  ///   - notificationID: the notification ID, which all entries of the change have.
  ///   - change: the dispatched change. It may have a million entries.
  ///   - limit: the most entries returned.
  func sequences(
    of notificationID: UUID, behind change: PastChange, limit: Int
  ) throws -> [Int64] {
    let page: Int64 = 500
    var found: [Int64] = []
    var last = change.sequence
    while true {
      let rows = try connection.rows(
        """
        SELECT sequence, logged, notification_id FROM notification_log
        WHERE database_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
        """, [.integer(change.database.rawValue), .integer(last), .integer(page)]
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

  /// Returns the reasons why some of the subscriber's devices have no delivery of an entry; empty
  /// if there is no reason, or if there is no such entry.
  func unsentDeliveries(
    ofEntry sequence: Int64, in database: DatabaseID
  ) throws -> UnsentDeliveries {
    try connection.first(
      "SELECT unsent FROM notification_log WHERE database_id = $1 AND sequence = $2",
      [.integer(database.rawValue), .integer(sequence)]
    ) { UnsentDeliveries(rawValue: $0.optionalInteger(0) ?? 0) } ?? []
  }

  /// Searches the next entries for those that belong to a user or contain the user's record name.
  /// The deletion of the user needs them.
  ///
  /// - Parameters:
  ///   - sequence: the number of the entry after which the search begins.
  ///   - count: the most entries examined.
  /// - Returns: the numbers of the entries found, and the number of the last examined entry; nil if
  ///   there are no entries after `sequence`.
  func naming(
    _ user: String, after sequence: Int64, examining count: Int64, in database: DatabaseID
  ) throws -> (found: [Int64], end: Int64)? {
    try transaction.rows(
      of: "notification_log", by: "sequence", naming: user, orOf: "subscriber", after: sequence,
      examining: count, in: database)
  }

  // MARK: Changing

  /// Replaces the content of an entry. The caller has removed the name of a deleted user from it.
  func setContent(_ content: [UInt8], ofEntry sequence: Int64, in database: DatabaseID) throws {
    try connection.run(
      "UPDATE notification_log SET content = $3 WHERE database_id = $1 AND sequence = $2",
      [.integer(database.rawValue), .integer(sequence), .bytes(content)])
  }

  /// Deletes an entry, but neither its deliveries nor its row in the index.
  func remove(_ sequence: Int64, in database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM notification_log WHERE database_id = $1 AND sequence = $2",
      [.integer(database.rawValue), .integer(sequence)])
  }

  /// Deletes the entries of a database with these numbers.
  func drop(_ sequences: [Int64], in database: DatabaseID) throws {
    try transaction.delete(
      "DELETE FROM notification_log WHERE database_id = $1 AND sequence IN",
      [.integer(database.rawValue)], numbers: sequences)
  }

  /// Returns a batch of old entries of all databases, at most ``Retention/batch``.
  ///
  /// - Parameter horizon: a time in milliseconds since 1970. Entries logged before it are old.
  func old(before horizon: Int64) throws -> [TrimmedChange] {
    try connection.rows(
      """
      SELECT \(TrimmedChange.entryColumns) FROM notification_log AS entries WHERE logged < $1
      ORDER BY database_id, sequence LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)], TrimmedChange.init(entry:))
  }

  // MARK: Entries trimmed before they were read

  /// Returns the position of the newest change that was trimmed from a user's log; 0 if there is
  /// none. Trimmed entries that had a mark do not count.
  func trimmedThrough(of subscriber: String, in database: DatabaseID) throws -> Int64 {
    try connection.first(
      "SELECT trimmed_through FROM trimmed_logs WHERE database_id = $1 AND subscriber = $2",
      [.integer(database.rawValue), .text(subscriber)]
    ) { $0.integer(0) } ?? 0
  }

  /// Stores the position up to which a user's log was trimmed. A lower position than the stored one
  /// changes nothing.
  func noteTrimmed(
    through position: Int64, of subscriber: String, in database: DatabaseID
  ) throws {
    try connection.run(
      """
      INSERT INTO trimmed_logs (database_id, subscriber, trimmed_through) VALUES ($1, $2, $3)
      ON CONFLICT (database_id, subscriber) DO UPDATE
      SET trimmed_through = excluded.trimmed_through
      WHERE trimmed_logs.trimmed_through < excluded.trimmed_through
      """, [.integer(database.rawValue), .text(subscriber), .integer(position)])
  }
}

extension LogEntry {
  /// Reads an entry from a row with the columns `sequence`, `subscriber`, `logged` and `content`.
  fileprivate init(row: any SQLRow, database: DatabaseID, address: DatabaseAddress) throws {
    self.init(
      database: database, sequence: row.integer(0),
      notification: try SubscriptionNotification(
        stored: row.bytes(3), database: address, subscriber: row.text(1)),
      logged: Timestamp(milliseconds: row.integer(2)))
  }
}
