import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func indexWork() async throws -> [IndexWork] {
    try await read { session in
      try session.pendingIndexes().map { pending in
        var work = pending.work
        if work.phase == .building { work.total = try session.scan(for: pending)?.countRecords() }
        return work
      }
    }
  }

  public func continueIndexWork() async throws -> IndexWork? {
    // Nearly always there is none, and reading does not hold up those who write.
    guard let place = try await read({ try $0.pendingIndexes().first?.position.database }) else {
      return nil
    }
    let database = WriteLocks.database(DatabaseID(rawValue: place))
    return try await write(locking: .reference.union(database)) { session in
      guard var pending = try session.pendingIndexes().first else { return nil }
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

/// A row of the work on indexes.
private struct PendingIndex {
  /// The field's number, or its negative for the index of words.
  var indexNumber: Int64
  var position: TypeScan.Position
  var isWanted: Bool
  var work: IndexWork
}

extension StoreSession {
  /// Records that a step looks at, and entries that it removes: so many that others wait a few
  /// milliseconds.
  private static let recordsPerStep = 200
  private static let entriesPerStep = 2_000

  /// The work that is to be done, in the order in which it was asked for as far as that is known.
  fileprivate func pendingIndexes() throws -> [PendingIndex] {
    try connection.rows(
      """
      SELECT index_work.field_number, phase, database_id, value_key, record_number, done,
        record_fields.name, indexes, record_types.name, container, environment
      FROM index_work
      JOIN record_fields ON record_fields.field_number = ABS(index_work.field_number)
      JOIN record_types ON record_types.type_number = record_fields.type_number
      ORDER BY ABS(index_work.field_number), index_work.field_number
      """, []
    ) { row in
      let number = row.integer(0)
      let indexes = FieldIndexes(rawValue: UInt8(row.integer(7)))
      return PendingIndex(
        indexNumber: number,
        position: TypeScan.Position(
          database: row.integer(2), key: row.bytes(3), number: row.integer(4)),
        isWanted: number < 0 ? indexes.contains(.searchable) : indexes.usesValues,
        work: IndexWork(
          container: row.text(9),
          environment: ContainerEnvironment(rawValue: row.text(10)) ?? .development,
          recordType: row.text(8), field: row.text(6), content: number < 0 ? .words : .values,
          phase: IndexWork.Phase(rawValue: row.integer(1)), done: Int(row.integer(5))))
    }
  }

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
    return try recordType(named: work.recordType, at: address).map {
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
    try keep(pending)
  }

  private func finishClearing(_ pending: inout PendingIndex) throws {
    if pending.isWanted {
      pending.work.phase = .building
      pending.work.done = 0
      pending.position = TypeScan.Position()
      try keep(pending)
    } else {
      try remove(&pending)
    }
    try raiseSchemaVersion()
  }

  /// Makes the entries of some records. What is saved meanwhile gets its entries as it is saved.
  fileprivate func buildSome(_ pending: inout PendingIndex) throws {
    guard let scan = try scan(for: pending) else { return }
    let (database, records, next) = try scan.records(
      after: pending.position, limit: Self.recordsPerStep)
    if !records.isEmpty {
      let address = try address(of: database)
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
      try keep(pending)
    } else {
      try remove(&pending)
      try raiseSchemaVersion()
    }
  }

  private func keep(_ pending: PendingIndex) throws {
    try connection.run(
      """
      UPDATE index_work SET phase = $2, database_id = $3, value_key = $4, record_number = $5,
        done = $6
      WHERE field_number = $1
      """,
      [
        .integer(pending.indexNumber), SQLValue(pending.work.phase?.rawValue),
        .integer(pending.position.database), .bytes(pending.position.key),
        .integer(pending.position.number), .integer(Int64(pending.work.done)),
      ])
  }

  private func remove(_ pending: inout PendingIndex) throws {
    pending.work.phase = nil
    try connection.run(
      "DELETE FROM index_work WHERE field_number = $1", [.integer(pending.indexNumber)])
  }
}
