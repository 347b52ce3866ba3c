import CloudKitModel
import StoreModel

/// The progress of a transaction that dispatches changes of a database, or of a part.
///
/// The changes themselves are not updated: they stay in the outbox as the history for explanations.
/// One row stores the position for all changes of the transaction.
///
/// In a divided database each part has such a row. The row for the changes is written when the last
/// part has dispatched them.
///
/// The life of a progress: ``init(of:in:)`` reads the position and checks the lease, ``settle(_:)``
/// advances it for each change, ``write(at:in:)`` stores it.
struct DispatchProgress {
  private let part: DatabasePart
  /// The pending division; nil if there is none.
  private let repartition: Repartition?
  /// The stored position. The value is nil before the first dispatch.
  private let stored: DispatchPosition?
  /// The position after the changes so far.
  private var position: DispatchPosition
  /// The position of the last change that the transaction dispatched fully.
  private var whole: DispatchPosition?
  /// The number of changes that the transaction dispatches, fully or partly.
  private var count = 0
  /// The fully dispatched changes that are too large for the history.
  private var large: [OutboxEntry] = []

  private var database: DatabaseID { part.database }

  /// Reads the stored position, under the database's lock.
  ///
  /// - Throws: ``StoreError/Code/leaseLost`` if another server dispatches the part's changes.
  init(of part: DatabasePart, in transaction: StoreTransaction) throws {
    self.part = part
    repartition = try DispatchLeaseTable(transaction: transaction).checkLease(of: part)
    stored = try DispatchTable(transaction: transaction).position(of: part)
    position = stored ?? DispatchPosition(through: .min, changes: 0)
  }

  /// Adds a change, or the continuation of a partly dispatched change, and advances the position.
  ///
  /// Changes must come in the order of their sequences. A partly dispatched change must continue at
  /// the subscription at which it stopped.
  ///
  /// - Returns: false if the change is dispatched already. The caller then skips the change.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` for a change after one that is not fully dispatched,
  ///   or after the last change of the present parts.
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

  /// Writes the position, and enforces the history's limits.
  ///
  /// If a division of the database is pending and the present parts have dispatched all their
  /// changes, the method divides the database.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` if the outbox has changes up to the new position that
  ///   this transaction did not dispatch. The position would mark them as dispatched.
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

  /// Writes the position of a whole database. The row of a change that was dispatched partly before
  /// is removed.
  private func writeWhole(at timestamp: Timestamp, in transaction: StoreTransaction) throws {
    let dispatches = DispatchTable(transaction: transaction)
    if let begun = stored, begun.settled != nil, begun.through < position.through {
      try dispatches.remove(of: database, through: begun.through)
    }
    // The changes before a partly dispatched one keep their own time of dispatch.
    if let whole, position.settled != nil {
      try dispatches.write(whole, of: database, at: timestamp)
    }
    try dispatches.write(position, of: database, at: timestamp)
    try drop(large, from: stored, to: position, in: transaction)
  }

  /// Writes the position of a part, and that of the database if this part was the last one behind.
  private func writePart(at timestamp: Timestamp, in transaction: StoreTransaction) throws {
    let dispatches = DispatchTable(transaction: transaction)
    try PartDispatchTable(transaction: transaction).write(position, of: part)
    let before = try dispatches.position(of: database)
    guard let common = try PartDispatchTable(transaction: transaction).commonPosition(of: database),
      common.through > before?.through ?? .min
    else { return }
    try dispatches.write(common, of: database, at: timestamp)
    // The last change that all parts have dispatched is in this transaction.
    let large = large.filter { $0.sequence <= common.through }
    try drop(large, from: before, to: common, in: transaction)
  }

  /// Enforces the history's limits on dispatched changes.
  ///
  /// The records of large changes lose their fields. Old changes are deleted each time after 64
  /// changes, or after an eighth of the limit if that is less. So most transactions delete nothing.
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
    // A partly dispatched change does not count toward the limit.
    let whole = end.changes - (end.settled == nil ? 0 : 1)
    try dispatches.dropChanges(of: database, before: whole - Int64(limit))
  }

  /// The error that makes the dispatcher read the outbox.
  private var outOfOrder: StoreError {
    StoreError(
      .outOfOrder,
      "database \(database.rawValue) has earlier changes that are not dispatched; read them "
        + "from the outbox first")
  }
}
