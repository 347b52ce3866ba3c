import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The committed changes of databases. A change waits here until it is *dispatched*, and is then
/// kept as history. Dispatching does not update its row: ``DispatchTable`` has the position. The
/// transaction that makes a change also writes the row, so a crash of the server loses no committed
/// change.
struct OutboxTable: Table {
  let transaction: StoreTransaction

  /// `sequence` is the change's number in the database, which rises from commit to commit.
  /// `subscription_version` is that of the commit: subscriptions that were saved later do not fire.
  /// `content` is the encoded change, with the record as it was committed.
  ///
  /// `lacks_fields` is 1 for a change that was too large for the history, and else null.
  static let definition = [
    """
    CREATE TABLE outbox (
      database_id BIGINT NOT NULL, sequence BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, content BYTEA NOT NULL, lacks_fields BIGINT,
      PRIMARY KEY (database_id, sequence)) /*clustered*/
    """
  ]

  /// Writes a change of a locked database to the outbox, and passes it to the commit handler. A
  /// change that nobody learns of is skipped: the database has no subscriptions, and no participant
  /// sees the change.
  ///
  /// - Parameter change: evaluated only if somebody learns of the change.
  func post(
    _ change: @autoclosure () -> Change, sequence: Int64, in database: DatabaseID,
    audience: ShareAudience = ShareAudience()
  ) throws {
    guard try !audience.isEmpty || listeners(in: database).isSubscribed else { return }
    let change = change()
    let content = content(of: change, audience, reserving: 384)
    var entry = OutboxEntry(
      part: .whole(database), sequence: sequence,
      subscriptionVersion: try DatabaseTable(transaction: transaction).subscriptionVersion(
        lockedIn: database), change: change, audience: audience)
    note(content.count, of: &entry)
    transaction.writes.outbox.append((entry, content))
    transaction.outbox.append(entry)
  }

  func writeDecided() throws {
    let changes = transaction.writes.outbox
    transaction.writes.outbox = []
    var rows = RowInsertion(sql.insertion)
    for (entry, content) in changes {
      try rows.add(in: connection) {
        $0.append(entry.database.rawValue, entry.sequence)
        $0.append(entry.subscriptionVersion)
        $0.append(bytes: content.span.bytes)
      }
    }
    try rows.finish(in: connection)
  }

  /// Returns who may learn of changes in a database. The transaction has locked the database's row,
  /// so no other transaction saves a subscription or a share before this one ends. The ``Catalog``
  /// caches up to 50,000 answers, each valid until the database's subscription version changes. The
  /// first save of a share raises that version too.
  func listeners(in database: DatabaseID) throws -> Catalog.Listeners {
    let databases = DatabaseTable(transaction: transaction)
    let version = try databases.subscriptionVersion(lockedIn: database)
    let changed = transaction.changedListeners[database]
    if let known = changed ?? transaction.catalog.listeners[database], known.version == version {
      return known
    }
    let scope = try databases.address(of: database).scope
    let listeners = Catalog.Listeners(
      version: version,
      isSubscribed: try SubscriptionTable(transaction: transaction).hasAny(in: database),
      hasShares: scope == .private
        ? try ShareTable(transaction: transaction).hasAny(in: database) : false)
    if changed != nil {
      transaction.changedListeners[database] = listeners
      return listeners
    }
    if transaction.catalog.listeners.count >= 50_000 { transaction.catalog.listeners = [:] }
    transaction.catalog.listeners[database] = listeners
    return listeners
  }

  /// A repeated request with an ID gets the same notification IDs, by which clients recognise
  /// repeated notifications. Otherwise the ID is random.
  ///
  /// - Parameter number: a number that no other change of the request has.
  func notificationID(ofChange number: Int64, from origin: ChangeOrigin) -> UUID {
    origin.request?.notificationID(ofChange: number) ?? transaction.context.makeUUID()
  }

  /// While a division is pending, the result ends at the last change that the present parts
  /// dispatch.
  func undispatchedEntries(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) throws -> [OutboxEntry] {
    let position = try DispatchTable(transaction: transaction).position(of: part)
    let begin = max(sequence, position?.wholeThrough ?? .min)
    let end =
      try DispatchLeaseTable(transaction: transaction).repartition(of: part)?.lastChange ?? .max
    var entries = try self.entries(for: part, after: begin, through: end, limit: limit)
    if let first = entries.first, first.sequence == position?.through {
      entries[0].settledThrough = position?.settled
    }
    return entries
  }

  /// Ends early with the change at which the contents together have `OutboxEntry.bytesAtOnce`.
  func entries(
    for part: DatabasePart, after sequence: Int64, through last: Int64, limit: Int
  ) throws -> [OutboxEntry] {
    let database = SQLValue.id(part.database)
    // The sizes are read first, so that no change is read that does not fit.
    let sizes = try connection.rows(
      sql.sizes, [database, .integer(sequence), .integer(last), .count(max(0, limit))]
    ) { (sequence: $0.integer(0), bytes: Int($0.integer(1))) }
    var total = 0
    let end = sizes.first { size in
      total += size.bytes
      return total >= OutboxEntry.bytesAtOnce
    }
    guard let end = end ?? sizes.last else { return [] }
    return try connection.rows(
      sql.entries, [database, .integer(sequence), .integer(end.sequence)]
    ) { try entry($0, for: part) }
  }

  private func entry(_ row: any SQLRow, for part: DatabasePart) throws -> OutboxEntry {
    let content = row.bytes(2)
    let (change, audience) = try decode(content, numbered: row.integer(0), in: part.database)
    var entry = OutboxEntry(
      part: part, sequence: row.integer(0), subscriptionVersion: row.integer(1), change: change,
      audience: audience)
    note(content.count, of: &entry)
    return entry
  }

  private func note(_ bytes: Int, of entry: inout OutboxEntry) {
    entry.byteCount = bytes
    entry.isLarge = bytes > transaction.context.historyLimits.changeBytes
  }

  /// From the last fully dispatched change of `begin` up to and including `last`.
  func count(
    of database: DatabaseID, from begin: DispatchPosition?, through last: Int64
  ) throws -> Int? {
    try connection.first(
      sql.count, [.id(database), .integer(begin?.wholeThrough ?? .min), .integer(last)]
    ) { Int($0.integer(0)) }
  }

  /// Returns the change of a range that has `newest` changes of the range after it.
  ///
  /// - Complexity: O(`newest`).
  func number(
    ofChangeBeforeNewest newest: Int, of database: DatabaseID, after sequence: Int64,
    through last: Int64
  ) throws -> Int64? {
    try connection.integer(
      sql.number, [.id(database), .integer(sequence), .integer(last), .count(newest)])
  }

  /// Also true for changes that are deferred for a subscriber.
  func hasWork(in database: DatabaseID) throws -> Bool {
    try hasUndispatched(in: database)
      || !DeferredDispatchTable(transaction: transaction).subscribers(in: .whole(database)).isEmpty
  }

  func hasUndispatched(in database: DatabaseID, through last: Int64 = .max) throws -> Bool {
    let through =
      try DispatchTable(transaction: transaction).position(of: database)?.wholeThrough ?? .min
    return try connection.exists(sql.any, [.id(database), .integer(through), .integer(last)])
  }

  func lastSequence(in database: DatabaseID) throws -> Int64 {
    try connection.integer(sql.last, [.id(database)]) ?? 0
  }

  func databases() throws -> [DatabaseID] {
    try connection.rows(sql.databases, []) { $0.database(0) }
  }

  /// - Complexity: O(*d* log *n*) for *d* databases with changes, and *n* changes.
  func undispatchedDatabases() throws -> [DatabaseID] {
    // The query reads the index once for each database, and skips the other changes.
    try connection.rows(sql.undispatchedDatabases, []) { $0.database(0) }
  }

  /// Examines at most `limit` changes of a database up to `sequence`, and returns those of a
  /// record, newest first. Without a record, it returns all. `oldest` is the oldest examined
  /// change, or nil if there are no older changes.
  func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, through sequence: Int64, limit: Int
  ) throws -> (changes: [PastChange], oldest: Int64?) {
    let name = recordID.map { Array($0.recordName.utf8) }
    var changes: [PastChange] = []
    var (oldest, count) = (Int64.max, 0)
    try connection.query(
      sql.past, [.id(database), .integer(sequence), .count(limit)]
    ) { row in
      count += 1
      oldest = row.integer(0)
      let content = row.bytes(2)
      // Most changes are of other records. If the content does not contain the record's name, it
      // need not be decoded.
      if let name, !content.contains(run: name) { return }
      let (change, audience) = try decode(content, numbered: oldest, in: database)
      guard recordID == nil || change.record?.recordID == recordID else { return }
      changes.append(
        PastChange(
          database: database, sequence: oldest, subscriptionVersion: row.integer(1),
          dispatched: Timestamp(milliseconds: row.optionalInteger(4) ?? 0), change: change,
          hasFields: row.optionalInteger(3) != 1, audience: audience))
    }
    return (changes, count == limit ? oldest : nil)
  }

  func dropFields(of entry: OutboxEntry) throws {
    var change = entry.change
    change.record?.fields = [:]
    change.record?.encryptedFields = []
    let content = content(of: change, entry.audience, reserving: 512)
    try decide(sql.dropFields, [.id(entry.database), .integer(entry.sequence), .bytes(content)])
  }

  /// The audience follows the change; an empty one takes no bytes.
  private func content(
    of change: Change, _ audience: ShareAudience, reserving capacity: Int
  ) -> [UInt8] {
    var encoder = RowEncoder(reserving: capacity)
    encoder.encode(change)
    if !audience.isEmpty {
      var audience = audience
      encoder.encodeFields(of: &audience)
      encoder.endFields()
    }
    return encoder.bytes
  }

  private func decode(
    _ content: [UInt8], numbered sequence: Int64, in database: DatabaseID
  ) throws -> (Change, ShareAudience) {
    var decoder = try RowDecoder(
      content, of: "change \(sequence) of database \(database.rawValue)")
    let change = try Change(from: &decoder)
    var audience = ShareAudience()
    if !decoder.isAtEnd { try decoder.decodeFields(into: &audience, isNested: false) }
    try decoder.finish()
    return (change, audience)
  }

  /// Searches at most `count` changes for the bytes of a user record name. Returns also the last
  /// examined change; nil if there are none.
  func naming(
    _ user: String, after sequence: Int64, examining count: Int64, in database: DatabaseID
  ) throws -> (found: [Int64], end: Int64)? {
    try transaction.rows(
      by: sql.naming, naming: user, after: sequence, examining: count, in: database)
  }

  func update(
    _ sequence: Int64, in database: DatabaseID,
    by alter: (inout Change, inout ShareAudience) -> Bool
  ) throws -> Bool {
    let key: [SQLValue] = [.id(database), .integer(sequence)]
    let content = try connection.first(sql.content, key) { $0.bytes(0) }
    guard let content else { return false }
    var (change, audience) = try decode(content, numbered: sequence, in: database)
    guard alter(&change, &audience) else { return false }
    try decide(
      sql.setContent,
      key + [.bytes(self.content(of: change, audience, reserving: content.count))])
    return true
  }

  /// Changes that are deferred for a subscriber stay, and a later call deletes them.
  func drop(from database: DatabaseID, through sequence: Int64) throws {
    try decide(sql.drop, [.id(database), .integer(sequence)])
  }

  struct Statements {
    let naming = NamingStatements("outbox", by: "sequence")
    let insertion = RowStatement(
      inserting: "outbox (database_id, sequence, subscription_version, content)",
      [.integer, .integer, .integer, .bytes])
    let sizes: Statement = """
      SELECT sequence, LENGTH(content) FROM outbox
      WHERE database_id = $1 AND sequence > $2 AND sequence <= $3 ORDER BY sequence LIMIT $4
      """
    let entries: Statement = """
      SELECT sequence, subscription_version, content FROM outbox
      WHERE database_id = $1 AND sequence > $2 AND sequence <= $3 ORDER BY sequence
      """
    let count: Statement =
      "SELECT COUNT(*) FROM outbox WHERE database_id = $1 AND sequence > $2 AND sequence <= $3"
    let number: Statement = """
      SELECT sequence FROM outbox WHERE database_id = $1 AND sequence > $2 AND sequence <= $3
      ORDER BY sequence DESC LIMIT 1 OFFSET $4
      """
    let any: Statement =
      "SELECT 1 FROM outbox WHERE database_id = $1 AND sequence > $2 AND sequence <= $3 LIMIT 1"
    let last: Statement = "SELECT MAX(sequence) FROM outbox WHERE database_id = $1"
    let databases = "SELECT database_id FROM outbox GROUP BY database_id ORDER BY database_id"
      .except([.everyDatabase, .wholeTable])
    let undispatchedDatabases = """
      WITH RECURSIVE changed (database_id) AS (
        SELECT MIN(database_id) FROM outbox
        UNION ALL
        SELECT (
          SELECT MIN(outbox.database_id) FROM outbox
          WHERE outbox.database_id > changed.database_id)
        FROM changed WHERE changed.database_id IS NOT NULL)
      SELECT database_id FROM changed
      WHERE database_id IS NOT NULL
        AND ((SELECT MAX(sequence) FROM outbox WHERE outbox.database_id = changed.database_id)
            > COALESCE((
              SELECT CASE WHEN settled_subscriber IS NULL THEN through ELSE through - 1 END
              FROM dispatches WHERE dispatches.database_id = changed.database_id
              ORDER BY through DESC LIMIT 1), -1)
          OR \(DeferredDispatchTable.exist(inDatabaseOf: "changed")))
      """.except(.undistributed)
    let past: Statement = """
      SELECT sequence, subscription_version, content, lacks_fields, (
          SELECT dispatched FROM dispatches
          WHERE dispatches.database_id = outbox.database_id AND through >= outbox.sequence
          ORDER BY through LIMIT 1)
      FROM outbox WHERE database_id = $1 AND sequence <= $2 ORDER BY sequence DESC LIMIT $3
      """
    let dropFields: Statement =
      "UPDATE outbox SET content = $3, lacks_fields = 1 WHERE database_id = $1 AND sequence = $2"
    let content: Statement = "SELECT content FROM outbox WHERE database_id = $1 AND sequence = $2"
    let setContent: Statement =
      "UPDATE outbox SET content = $3 WHERE database_id = $1 AND sequence = $2"
    let drop: Statement = """
      DELETE FROM outbox WHERE database_id = $1 AND sequence <= $2
        AND sequence <= COALESCE((\(DeferredDispatchTable.leastWholeThrough)), $2)
      """
  }
  static let sql = Statements()
}

extension [UInt8] {
  fileprivate func contains(run other: [UInt8]) -> Bool {
    guard let first = other.first else { return true }
    return withUnsafeBytes { bytes in
      var rest = bytes[...]
      while rest.count >= other.count, let begin = rest.firstIndex(of: first) {
        if bytes[begin...].starts(with: other) { return true }
        rest = rest[(begin + 1)...]
      }
      return false
    }
  }
}
