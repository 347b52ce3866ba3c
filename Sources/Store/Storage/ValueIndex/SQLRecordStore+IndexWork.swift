import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func indexWork() async throws -> [IndexWork] {
    try await read { session in
      try IndexWorkTable(session: session).pending().map { pending in
        var work = pending.work
        if work.phase == .building { work.total = try session.scan(for: pending)?.countRecords() }
        return work
      }
    }
  }

  public func continueIndexWork() async throws -> IndexWork? {
    // Nearly always there is none, and reading does not hold up those who write.
    guard
      let place = try await read({
        try IndexWorkTable(session: $0).pending().first?.position.database
      })
    else {
      return nil
    }
    let database = WriteLocks.database(DatabaseID(rawValue: place))
    return try await write(locking: .reference.union(database)) { session in
      guard var pending = try IndexWorkTable(session: session).pending().first else { return nil }
      try session.lockPlace(of: &pending)
      switch pending.work.phase {
      case .clearing?: try session.clearSome(&pending)
      case .building?: try session.buildSome(&pending)
      case nil: break
      }
      return pending.work
    }
  }
}

extension StoreSession {
  /// Records that a step looks at, and entries that it removes: so many that others wait a few
  /// milliseconds.
  private static let recordsPerStep = 200
  private static let entriesPerStep = 2_000

  /// Sees to it that the work goes on in a database under its lock. Who saved in it before did so by the
  /// schema that asked for the work or by one before, and what they left is found there; who saves in it
  /// afterwards reads the schema anew.
  fileprivate func lockPlace(of pending: inout PendingIndex) throws {
    if pending.position.database == 0, let scan = try scan(for: pending),
      let first = try scan.nextDatabase(after: 0)
    {
      pending.position = TypeScan.Position(database: first)
    }
    try require(.database(DatabaseID(rawValue: pending.position.database)))
  }

  fileprivate func scan(for pending: PendingIndex) throws -> TypeScan? {
    let work = pending.work
    let address = DatabaseAddress(
      container: work.container, environment: work.environment, scope: .public, owner: nil)
    return try RecordTypeTable(session: self).type(named: work.recordType, at: address).map {
      TypeScan(
        type: $0, container: work.container, environment: work.environment, session: self)
    }
  }

  /// Removes some entries of one database, and goes on to the next when it has no more.
  fileprivate func clearSome(_ pending: inout PendingIndex) throws {
    guard let scan = try scan(for: pending) else { return }
    if pending.position.database == 0 {
      pending.position.database = try scan.nextDatabase(after: 0) ?? 0
    }
    let place: [SQLValue] = [
      .integer(pending.position.database), .integer(pending.indexNumber),
    ]
    let last = try connection.first(
      """
      SELECT value_key, record_number FROM value_index
      WHERE database_id = $1 AND field_number = $2
      ORDER BY value_key, record_number LIMIT 1 OFFSET $3
      """, place + [.integer(Int64(Self.entriesPerStep - 1))]
    ) { ($0.bytes(0), $0.integer(1)) }
    if let (key, number) = last {
      pending.work.done += try connection.run(
        """
        DELETE FROM value_index WHERE database_id = $1 AND field_number = $2
          AND (value_key, record_number) <= ($3, $4)
        """, place + [.bytes(key), .integer(number)])
    } else {
      pending.work.done += try connection.run(
        "DELETE FROM value_index WHERE database_id = $1 AND field_number = $2", place)
      guard let next = try scan.nextDatabase(after: pending.position.database) else {
        try finishClearing(&pending)
        return
      }
      pending.position.database = next
    }
    try IndexWorkTable(session: self).keep(pending)
  }

  private func finishClearing(_ pending: inout PendingIndex) throws {
    if pending.isWanted {
      pending.work.phase = .building
      pending.work.done = 0
      pending.position = TypeScan.Position()
      try IndexWorkTable(session: self).keep(pending)
    } else {
      try IndexWorkTable(session: self).remove(&pending)
    }
    try CounterTable(session: self).raiseSchemaVersion()
  }

  /// Makes the entries of some records. What is saved meanwhile gets its entries as it is saved.
  fileprivate func buildSome(_ pending: inout PendingIndex) throws {
    guard let scan = try scan(for: pending) else { return }
    let (database, records, next) = try scan.records(
      after: pending.position, limit: Self.recordsPerStep)
    if !records.isEmpty {
      let address = try DatabaseTable(session: self).address(of: database)
      for stored in records {
        let entries = try indexEntries(of: stored.record, type: scan.type, at: address)
        for entry in entries.list where entry.fieldNumber == pending.indexNumber {
          try connection.run(
            """
            INSERT INTO value_index
              (database_id, field_number, value_key, record_number, zone_number)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (database_id, field_number, value_key, record_number) DO NOTHING
            """,
            [
              .integer(database.rawValue), .integer(entry.fieldNumber), .bytes(entry.key),
              .integer(stored.number), .integer(stored.zoneNumber),
            ])
        }
      }
    }
    pending.work.done += records.count
    if let next {
      pending.position = next
      try IndexWorkTable(session: self).keep(pending)
    } else {
      try IndexWorkTable(session: self).remove(&pending)
      try CounterTable(session: self).raiseSchemaVersion()
    }
  }
}
