import CloudKitModel
import StoreModel

/// Builds and removes indexes in the writer's transactions, one step in each, with the reference
/// lock and the lock of the step's database. When the work ends, the catalog version rises, and
/// searches use the index.
struct IndexWorker {
  let transaction: StoreTransaction

  /// The records of a building step: few, so that other writes wait only a few milliseconds.
  private static let recordsPerStep = 200
  private static let entriesPerStep = 2_000

  /// Finds the first database if there is none yet, and requires its lock.
  ///
  /// Saves before the lock may have used a schema without the index's options; the work processes
  /// their records. Later saves read the schema again and add their entries themselves.
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

  /// Returns nil if the record type was dropped from the schema.
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

  /// Removes entries in one database; the next step goes on there, or in the next database. After
  /// the last, the work ends, or building begins if the field's options require the index.
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

  /// The work ends, or building begins.
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

  /// A record that is saved meanwhile gets its entries by the save. An existing entry stays.
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
