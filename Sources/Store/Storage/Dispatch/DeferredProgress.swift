import CloudKitModel
import StoreModel

/// The progress of a transaction that dispatches deferred changes to one subscriber, as
/// ``DispatchProgress`` is for a database.
struct DeferredProgress {
  private let part: DatabasePart
  private let subscriber: String
  private let stored: DispatchPosition
  private var position: DispatchPosition
  private var count = 0
  private var large: [OutboxEntry] = []

  /// The transaction has the database's lock. Nil if the subscriber is not deferred any more.
  ///
  /// - Throws: ``StoreError/Code/leaseLost`` if this server has no lease of the part.
  init?(of subscriber: String, in part: DatabasePart, _ transaction: StoreTransaction) throws {
    _ = try DispatchLeaseTable(transaction: transaction).checkLease(of: part)
    guard
      let stored = try DeferredDispatchTable(transaction: transaction)
        .position(of: subscriber, in: part.database)
    else { return nil }
    self.part = part
    self.subscriber = subscriber
    self.stored = stored
    position = stored
  }

  mutating func settle(_ matched: MatchedChange) throws -> Bool {
    let entry = matched.entry
    if entry.sequence == position.through, position.settled != nil {
      guard entry.settledThrough == position.settled else { return false }
      if count == 0 { count = 1 }
    } else {
      guard entry.sequence > position.through, entry.settledThrough == nil else { return false }
      if position.settled != nil { throw DispatchProgress.outOfOrder(part.database) }
      count += 1
      position.through = entry.sequence
    }
    position.settled = matched.isWhole ? nil : matched.firings.last?.name
    if matched.isWhole, entry.isLarge { large.append(entry) }
    return true
  }

  /// If the position has reached that of the database, the subscriber is deferred no more.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` if the outbox has changes up to the new position that
  ///   this transaction did not dispatch.
  func write(in transaction: StoreTransaction) throws {
    guard count > 0 else { return }
    let between = try OutboxTable(transaction: transaction).count(
      of: part.database, from: stored, through: position.through)
    guard between == count else { throw DispatchProgress.outOfOrder(part.database) }
    let deferred = DeferredDispatchTable(transaction: transaction)
    let common = try DispatchTable(transaction: transaction).position(of: part)
    if let common, common.settled == nil, position.settled == nil,
      position.through >= common.through
    {
      try deferred.remove(subscriber, in: part.database)
    } else {
      try deferred.write(position, of: subscriber, in: part.database)
    }
    // The history kept the fields of these changes for this subscriber.
    let least = try deferred.leastWholeThrough(in: part.database) ?? .max
    for entry in large where entry.sequence <= least {
      try OutboxTable(transaction: transaction).dropFields(of: entry)
    }
  }
}
