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

  func scan(for pending: PendingIndex) throws -> TypeScan? {
    let work = pending.work
    return try RecordTypeTable(transaction: transaction)
      .type(named: work.recordType, of: work.container, in: work.environment).map {
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

extension MaintenanceService {
  /// Does a small step of the work on one index (``IndexWork``), in one transaction. Several
  /// processes may call the method at the same time. Returns the progress; nil without work.
  public func continueIndexWork() async throws -> IndexWork? {
    // The read comes first, because there is almost never any work, and a read does not delay
    // writers.
    guard
      let place = try await transactions.read({
        try IndexWorkTable(transaction: $0).pending().first?.position.database
      })
    else {
      return nil
    }
    let database = WriteLocks.database(DatabaseID(rawValue: place))
    return try await transactions.write(
      locking: .reference.union(database), rows: Int(Retention.batch)
    ) { transaction in
      guard var pending = try IndexWorkTable(transaction: transaction).pending().first else {
        return nil
      }
      let worker = IndexWorker(transaction: transaction)
      try worker.lockPlace(of: &pending)
      switch pending.work.phase {
      case .clearing?: try worker.clearSome(&pending)
      case .building?: try worker.buildSome(&pending)
      case nil: break
      }
      return pending.work
    }
  }
}
