import CloudKitModel
import StoreModel

/// The progress of a transaction that dispatches changes of one database, or of one part of a
/// divided database: ``init(of:in:)``, then ``settle(_:)`` for each change, then ``write(at:in:)``.
///
/// The transaction does not update the changes, which stay in the outbox as a history. One row of
/// ``DispatchTable`` stores the position after all changes of the transaction. In a divided
/// database, ``PartDispatchTable`` has the position of each part. The row of ``DispatchTable`` is
/// written when all parts have dispatched a change.
struct DispatchProgress {
  private let part: DatabasePart
  private let repartition: Repartition?
  private let stored: DispatchPosition?
  private var position: DispatchPosition
  private var whole: DispatchPosition?
  private var count = 0
  private let waiting: ReadSet.Waiting?
  private var large: [OutboxEntry] = []
  /// The deferred subscribers of the part, with those of ``begun``.
  private(set) var deferred: Set<String>
  private var begun: [(subscriber: String, through: Int64)] = []

  private var database: DatabaseID { part.database }

  /// The transaction has the database's lock.
  ///
  /// - Throws: ``StoreError/Code/leaseLost`` if this server has no lease of the part.
  init(of part: DatabasePart, in transaction: StoreTransaction) throws {
    self.part = part
    repartition = try DispatchLeaseTable(transaction: transaction).checkLease(of: part)
    waiting = part.isWhole ? transaction.reads.waiting.removeValue(forKey: part.database) : nil
    if let waiting {
      stored = waiting.position
    } else {
      stored = try DispatchTable(transaction: transaction).position(of: part)
    }
    position = stored ?? DispatchPosition(through: .min, changes: 0)
    deferred =
      stored?.hasDeferrals == true
      ? Set(try DeferredDispatchTable(transaction: transaction).subscribers(in: part)) : []
  }

  /// Advances the position past a change, or past some of its firings. The caller passes changes in
  /// the order of their sequences. A partly dispatched change must continue after the last
  /// processed subscription.
  ///
  /// - Returns: false if the change, or these firings of it, are dispatched already.
  /// - Throws: ``StoreError/Code/outOfOrder`` if an earlier change is only partly dispatched, or if
  ///   a division is pending and the change follows the last change of the present parts.
  mutating func settle(_ matched: MatchedChange) throws -> Bool {
    let entry = matched.entry
    if let repartition, entry.sequence > repartition.lastChange { throw Self.outOfOrder(database) }
    if entry.sequence == position.through, position.settled != nil {
      guard entry.settledThrough == position.settled else { return false }
      if count == 0 { count = 1 }
    } else {
      guard entry.sequence > position.through, entry.settledThrough == nil else { return false }
      if position.settled != nil { throw Self.outOfOrder(database) }
      count += 1
      position.through = entry.sequence
      position.changes += 1
    }
    for subscriber in entry.deferring where deferred.insert(subscriber).inserted {
      begun.append((subscriber, entry.sequence - 1))
    }
    position.settled = matched.isWhole ? nil : matched.firings.last?.name
    if matched.isWhole {
      whole = position
      if entry.isLarge { large.append(entry) }
    }
    return true
  }

  /// Stores the position, and deletes changes beyond the history's limits. If a division is pending
  /// and the present parts have dispatched all their changes, the method divides the database.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` if the outbox has changes up to the new position that
  ///   this transaction did not dispatch, which the position would wrongly mark as dispatched.
  func write(at timestamp: Timestamp, in transaction: StoreTransaction) throws {
    guard count > 0 else { return }
    let between =
      waiting?.through == position.through
      ? waiting?.count
      : try OutboxTable(transaction: transaction).count(
        of: database, from: stored, through: position.through)
    guard between == count else { throw Self.outOfOrder(database) }
    for (subscriber, sequence) in begun {
      try DeferredDispatchTable(transaction: transaction)
        .begin(subscriber, after: sequence, in: database)
    }
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

  /// Checks that changes, in the order of their numbers, are the next undispatched ones of a part.
  /// Those that are dispatched already are ignored.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` if the outbox has other undispatched changes before
  ///   the last one.
  static func checkOrder(
    of entries: [OutboxEntry], in part: DatabasePart, in transaction: StoreTransaction
  ) throws {
    guard let last = entries.last else { return }
    let stored = try DispatchTable(transaction: transaction).position(of: part)
    let waiting = try OutboxTable(transaction: transaction).count(
      of: part.database, from: stored, through: last.sequence)
    let begin = stored?.wholeThrough ?? .min
    guard waiting == entries.count(where: { $0.sequence > begin }) else {
      throw outOfOrder(part.database)
    }
  }

  /// Also deletes the row that an earlier transaction wrote for a partly dispatched change.
  private func writeWhole(at timestamp: Timestamp, in transaction: StoreTransaction) throws {
    let dispatches = DispatchTable(transaction: transaction)
    if let begun = stored, begun.settled != nil, begun.through < position.through {
      try dispatches.remove(of: database, through: begun.through)
    }
    // If the last change is only partly dispatched, the fully dispatched ones before it get a row
    // of their own, so that their time of dispatch stays.
    if let whole, position.settled != nil {
      dispatches.write(whole, of: database, at: timestamp)
    }
    dispatches.write(position, of: database, at: timestamp)
    try drop(large, from: stored, to: position, in: transaction)
  }

  /// If this part was the last one behind, the position common to all parts advances.
  private func writePart(at timestamp: Timestamp, in transaction: StoreTransaction) throws {
    let dispatches = DispatchTable(transaction: transaction)
    try PartDispatchTable(transaction: transaction).write(position, of: part)
    let before = try dispatches.position(of: database)
    guard let common = try PartDispatchTable(transaction: transaction).commonPosition(of: database),
      common.through > before?.through ?? .min
    else { return }
    dispatches.write(common, of: database, at: timestamp)
    // This part was the last one behind, so this transaction has dispatched all changes between the
    // database's former and new position.
    let large = large.filter { $0.sequence <= common.through }
    try drop(large, from: before, to: common, in: transaction)
  }

  /// Applies the history's limits to the dispatched changes. Changes beyond the limit are deleted
  /// only after each 64 changes, or after an eighth of the limit if that is less, so most
  /// transactions delete nothing.
  ///
  /// - Parameter begin: the database's position before the transaction.
  private func drop(
    _ large: [OutboxEntry], from begin: DispatchPosition?, to end: DispatchPosition,
    in transaction: StoreTransaction
  ) throws {
    let dispatches = DispatchTable(transaction: transaction)
    let limit = transaction.context.historyLimits.changes
    guard limit > 0 else { return try dispatches.dropChanges(of: database, dispatchedAt: end) }
    // Deferred subscribers still need the fields (``DeferredProgress``).
    if deferred.isEmpty {
      for entry in large { try OutboxTable(transaction: transaction).dropFields(of: entry) }
    }
    let period = Int64(min(64, max(1, limit / 8)))
    guard end.changes / period > (begin?.changes ?? 0) / period else { return }
    // A partly dispatched change does not count toward the limit.
    let whole = end.changes - (end.settled == nil ? 0 : 1)
    try dispatches.dropChanges(of: database, before: whole - Int64(limit))
  }

  /// The dispatcher then reads the missing changes from the outbox.
  static func outOfOrder(_ database: DatabaseID) -> StoreError {
    StoreError(
      .outOfOrder,
      "database \(database.rawValue) has earlier changes that are not dispatched; read them "
        + "from the outbox first")
  }
}
