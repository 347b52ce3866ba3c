import CloudKitModel
import StoreModel

/// A worker that builds and removes indexes in the writer's transactions, one step in each.
///
/// A step has the reference lock and the lock of its database. When the work on an index ends, the
/// catalog version rises, and searches use the index from then on.
struct IndexWorker {
  let transaction: StoreTransaction

  /// The most records that a building step reads, so that other writes wait only a few
  /// milliseconds.
  private static let recordsPerStep = 200
  /// The most entries that a removing step removes.
  private static let entriesPerStep = 2_000

  /// Finds the first database if the work has none yet, and checks that the transaction has the
  /// lock of the work's database.
  ///
  /// Saves before the lock may have used a schema without the index's present options; the work
  /// processes their records. Saves after the lock read the schema again and add their entries
  /// themselves.
  ///
  /// - Throws: ``LocksNeeded`` with the lock of the database.
  func lockPlace(of pending: inout PendingIndex) throws {
    if pending.position.database == 0, let scan = try scan(for: pending),
      let first = try scan.nextDatabase(after: 0)
    {
      pending.position = TypeScan.Position(database: first)
    }
    try transaction.require(.database(DatabaseID(rawValue: pending.position.database)))
  }

  /// Returns the scan of all records that the index concerns; nil if the record type was dropped
  /// from the schema.
  func scan(for pending: PendingIndex) throws -> TypeScan? {
    let work = pending.work
    let address = DatabaseAddress(
      container: work.container, environment: work.environment, scope: .public, owner: nil)
    return try RecordTypeTable(transaction: transaction).type(named: work.recordType, at: address)
      .map {
        TypeScan(
          type: $0, container: work.container, environment: work.environment,
          transaction: transaction)
      }
  }

  /// Removes some of the index's entries in one database. When that database has no more, the next
  /// step continues with the next database. After the last database, the work ends, or building
  /// begins if the field's options require the index.
  func clearSome(_ pending: inout PendingIndex) throws {
    guard let scan = try scan(for: pending) else { return }
    if pending.position.database == 0 {
      pending.position.database = try scan.nextDatabase(after: 0) ?? 0
    }
    let (removed, isAll) = try ValueIndexTable(transaction: transaction).removeSome(
      ofField: pending.indexNumber, in: pending.position.database, limit: Self.entriesPerStep)
    pending.work.done += removed
    if isAll {
      guard let next = try scan.nextDatabase(after: pending.position.database) else {
        try finishClearing(&pending)
        return
      }
      pending.position.database = next
    }
    try IndexWorkTable(transaction: transaction).keep(pending)
  }

  /// Ends the removal: the work ends, or building begins.
  private func finishClearing(_ pending: inout PendingIndex) throws {
    if pending.isWanted {
      pending.work.phase = .building
      pending.work.done = 0
      pending.position = TypeScan.Position()
      try IndexWorkTable(transaction: transaction).keep(pending)
    } else {
      try IndexWorkTable(transaction: transaction).remove(&pending)
    }
    try CounterTable(transaction: transaction).raiseCatalogVersion()
  }

  /// Adds the entries of the next records. A record that is saved while the index is built gets its
  /// entries by the save. An entry that exists already stays.
  func buildSome(_ pending: inout PendingIndex) throws {
    guard let scan = try scan(for: pending) else { return }
    let (database, records, next) = try scan.records(
      after: pending.position, limit: Self.recordsPerStep)
    if !records.isEmpty {
      let index = ValueIndexTable(transaction: transaction)
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      for stored in records {
        let entries = try index.entries(of: stored.record, type: scan.type, at: address)
        for entry in entries.list where entry.fieldNumber == pending.indexNumber {
          try index.add(entry, of: stored, in: database)
        }
      }
    }
    pending.work.done += records.count
    if let next {
      pending.position = next
      try IndexWorkTable(transaction: transaction).keep(pending)
    } else {
      try IndexWorkTable(transaction: transaction).remove(&pending)
      try CounterTable(transaction: transaction).raiseCatalogVersion()
    }
  }
}
