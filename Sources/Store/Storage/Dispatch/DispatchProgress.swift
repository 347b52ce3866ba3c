import CloudKitModel
import StoreModel

/// Takes down which changes of a database a transaction dispatches.
///
/// A change is not touched for it: it stays in the outbox, as the history that explanations look at,
/// and a row for all of the transaction's changes tells how far they go.
///
/// Where the database is divided, each part has such a row of its own, and the one for the changes is
/// written when the last part is through with them.
struct DispatchProgress {
  private let part: DatabasePart
  /// What comes after the parts there are; nil when nothing else is to.
  private let repartition: Repartition?
  /// What the store has.
  private let stored: DispatchPosition?
  private var position: DispatchPosition
  /// Where the last change stands that the transaction made whole.
  private var whole: DispatchPosition?
  /// How many changes the transaction dispatches, wholly or in part.
  private var count = 0
  private var large: [OutboxEntry] = []

  private var database: DatabaseID { part.database }

  /// - Throws: ``StoreError/Code/leaseLost`` when another server dispatches the part's changes.
  init(of part: DatabasePart, in session: StoreSession) throws {
    self.part = part
    repartition = try DispatchLeaseTable(session: session).checkLease(of: part)
    stored = try session.dispatchPosition(of: part)
    position = stored ?? DispatchPosition(through: .min, changes: 0)
  }

  /// Takes in a change, or more of one that is begun; false when that is dispatched already.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder``, for a change behind one that is not whole, or behind the
  ///   last of these parts.
  mutating func settle(_ matched: MatchedChange) throws -> Bool {
    let entry = matched.entry
    if let repartition, entry.sequence > repartition.lastChange { throw outOfOrder }
    if entry.sequence == position.through, position.settled != nil {
      guard entry.settledThrough == position.settled else { return false }
      if count == 0 { count = 1 }
    } else {
      guard entry.sequence > position.through, entry.settledThrough == nil else { return false }
      if position.settled != nil { throw outOfOrder }
      count += 1
      position.through = entry.sequence
      position.changes += 1
    }
    position.settled = matched.isWhole ? nil : matched.firings.last?.name
    if matched.isWhole {
      whole = position
      if entry.isLarge { large.append(entry) }
    }
    return true
  }

  /// Writes how far the changes are dispatched, and drops what is too much to be kept of them.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` when others wait before the last of them: they would
  ///   be taken for dispatched.
  func write(at timestamp: Timestamp, in session: StoreSession) throws {
    guard count > 0 else { return }
    guard try session.outboxCount(of: database, from: stored, to: position) == count else {
      throw outOfOrder
    }
    if part.isWhole {
      try writeWhole(at: timestamp, in: session)
    } else {
      try writePart(at: timestamp, in: session)
    }
    guard let repartition else { return }
    let end =
      part.isWhole ? position : try PartDispatchTable(session: session).commonPosition(of: database)
    guard let end, end.wholeThrough >= repartition.lastChange else { return }
    try DispatchLeaseTable(session: session).divide(database, into: repartition.nextParts)
  }

  private func writeWhole(at timestamp: Timestamp, in session: StoreSession) throws {
    if let begun = stored, begun.settled != nil, begun.through < position.through {
      try session.connection.run(
        "DELETE FROM dispatches WHERE database_id = $1 AND through = $2",
        [.integer(database.rawValue), .integer(begun.through)])
    }
    // The changes before one that goes on have their time.
    if let whole, position.settled != nil { try session.write(whole, of: database, at: timestamp) }
    try session.write(position, of: database, at: timestamp)
    try drop(large, from: stored, to: position, in: session)
  }

  private func writePart(at timestamp: Timestamp, in session: StoreSession) throws {
    try PartDispatchTable(session: session).write(position, of: part)
    let before = try session.dispatchPosition(of: database)
    guard let common = try PartDispatchTable(session: session).commonPosition(of: database),
      common.through > before?.through ?? .min
    else { return }
    try session.write(common, of: database, at: timestamp)
    // What all parts are through with by now, the last of them is in this transaction.
    let large = large.filter { $0.sequence <= common.through }
    try drop(large, from: before, to: common, in: session)
  }

  /// Drops what is too much to be kept of changes that are dispatched.
  private func drop(
    _ large: [OutboxEntry], from begin: DispatchPosition?, to end: DispatchPosition,
    in session: StoreSession
  ) throws {
    let limit = session.historyLimits.changes
    guard limit > 0 else { return try session.dropChanges(of: database, dispatchedAt: end) }
    for entry in large { try session.dropFields(of: entry) }
    let period = Int64(min(64, max(1, limit / 8)))
    guard end.changes / period > (begin?.changes ?? 0) / period else { return }
    // One that is dispatched in part is none of those that are kept.
    let whole = end.changes - (end.settled == nil ? 0 : 1)
    try session.dropChanges(of: database, before: whole - Int64(limit))
  }

  private var outOfOrder: StoreError {
    StoreError(
      .outOfOrder,
      "changes of database \(database.rawValue) wait before those that were to be dispatched; "
        + "read them from the outbox")
  }
}

extension StoreSession {
  /// How many changes lie behind what is whole of one position, up to another.
  fileprivate func outboxCount(
    of database: DatabaseID, from begin: DispatchPosition?, to end: DispatchPosition
  ) throws -> Int? {
    try connection.first(
      "SELECT COUNT(*) FROM outbox WHERE database_id = $1 AND sequence > $2 AND sequence <= $3",
      [
        .integer(database.rawValue), .integer(begin?.wholeThrough ?? .min), .integer(end.through),
      ]
    ) { Int($0.integer(0)) }
  }

  /// Keeps of a change all but its record's fields.
  fileprivate func dropFields(of entry: OutboxEntry) throws {
    var change = entry.change
    change.record?.fields = [:]
    change.record?.encryptedFields = []
    var encoder = RowEncoder(reserving: 512)
    encoder.encode(change)
    try connection.run(
      "UPDATE outbox SET content = $3, lacks_fields = 1 WHERE database_id = $1 AND sequence = $2",
      [.integer(entry.database.rawValue), .integer(entry.sequence), .bytes(encoder.bytes)])
  }

  /// Drops all changes that are dispatched, and all but the last that is known of it.
  fileprivate func dropChanges(
    of database: DatabaseID, dispatchedAt position: DispatchPosition
  ) throws {
    try dropChanges(of: database, through: position.wholeThrough)
    try connection.run(
      "DELETE FROM dispatches WHERE database_id = $1 AND through < $2",
      [.integer(database.rawValue), .integer(position.through)])
  }

  /// Drops the oldest changes, those before the given number; so many at once as do not take long.
  fileprivate func dropChanges(of database: DatabaseID, before number: Int64) throws {
    guard number > 0 else { return }
    let last = try connection.first(
      """
      SELECT MAX(through) FROM (
        SELECT through, changes FROM dispatches WHERE database_id = $1 ORDER BY through LIMIT 128
      ) AS oldest WHERE changes <= $2
      """, [.integer(database.rawValue), .integer(number)]
    ) { $0.optionalInteger(0) }
    guard let last = last ?? nil else { return }
    try dropChanges(of: database, through: last)
    try connection.run(
      "DELETE FROM dispatches WHERE database_id = $1 AND through <= $2",
      [.integer(database.rawValue), .integer(last)])
  }

  func dropChanges(of database: DatabaseID, through sequence: Int64) throws {
    try connection.run(
      "DELETE FROM outbox WHERE database_id = $1 AND sequence <= $2",
      [.integer(database.rawValue), .integer(sequence)])
  }
}
