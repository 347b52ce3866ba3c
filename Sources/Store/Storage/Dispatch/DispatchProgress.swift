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
  init(of part: DatabasePart, in transaction: StoreTransaction) throws {
    self.part = part
    repartition = try DispatchLeaseTable(transaction: transaction).checkLease(of: part)
    stored = try DispatchTable(transaction: transaction).position(of: part)
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
  func write(at timestamp: Timestamp, in transaction: StoreTransaction) throws {
    guard count > 0 else { return }
    let between = try OutboxTable(transaction: transaction).count(
      of: database, from: stored, to: position)
    guard between == count else { throw outOfOrder }
    if part.isWhole {
      try writeWhole(at: timestamp, in: transaction)
    } else {
      try writePart(at: timestamp, in: transaction)
    }
    guard let repartition else { return }
    let end =
      part.isWhole
      ? position : try PartDispatchTable(transaction: transaction).commonPosition(of: database)
    guard let end, end.wholeThrough >= repartition.lastChange else { return }
    try DispatchLeaseTable(transaction: transaction).divide(database, into: repartition.nextParts)
  }

  private func writeWhole(at timestamp: Timestamp, in transaction: StoreTransaction) throws {
    let dispatches = DispatchTable(transaction: transaction)
    if let begun = stored, begun.settled != nil, begun.through < position.through {
      try dispatches.remove(of: database, through: begun.through)
    }
    // The changes before one that goes on have their time.
    if let whole, position.settled != nil {
      try dispatches.write(whole, of: database, at: timestamp)
    }
    try dispatches.write(position, of: database, at: timestamp)
    try drop(large, from: stored, to: position, in: transaction)
  }

  private func writePart(at timestamp: Timestamp, in transaction: StoreTransaction) throws {
    let dispatches = DispatchTable(transaction: transaction)
    try PartDispatchTable(transaction: transaction).write(position, of: part)
    let before = try dispatches.position(of: database)
    guard let common = try PartDispatchTable(transaction: transaction).commonPosition(of: database),
      common.through > before?.through ?? .min
    else { return }
    try dispatches.write(common, of: database, at: timestamp)
    // What all parts are through with by now, the last of them is in this transaction.
    let large = large.filter { $0.sequence <= common.through }
    try drop(large, from: before, to: common, in: transaction)
  }

  /// Drops what is too much to be kept of changes that are dispatched.
  private func drop(
    _ large: [OutboxEntry], from begin: DispatchPosition?, to end: DispatchPosition,
    in transaction: StoreTransaction
  ) throws {
    let dispatches = DispatchTable(transaction: transaction)
    let limit = transaction.context.historyLimits.changes
    guard limit > 0 else { return try dispatches.dropChanges(of: database, dispatchedAt: end) }
    for entry in large { try OutboxTable(transaction: transaction).dropFields(of: entry) }
    let period = Int64(min(64, max(1, limit / 8)))
    guard end.changes / period > (begin?.changes ?? 0) / period else { return }
    // One that is dispatched in part is none of those that are kept.
    let whole = end.changes - (end.settled == nil ? 0 : 1)
    try dispatches.dropChanges(of: database, before: whole - Int64(limit))
  }

  private var outOfOrder: StoreError {
    StoreError(
      .outOfOrder,
      "changes of database \(database.rawValue) wait before those that were to be dispatched; "
        + "read them from the outbox")
  }
}
