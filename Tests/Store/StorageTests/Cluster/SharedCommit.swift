import CloudKitModel
import Foundation
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage

/// A job that a test puts into the writer's queue itself, and what came of it.
final class KeptJob: StoreJob {
  let needs: [ReadNeeds]
  let locks = WriteLocks.everything
  private let body: @Sendable (StoreTransaction) throws -> [String]
  private let latest = Mutex<[String]>([])
  private let ended = Mutex<[String]?>(nil)

  init(
    needs: [ReadNeeds] = [], _ body: @escaping @Sendable (StoreTransaction) throws -> [String]
  ) {
    self.needs = needs
    self.body = body
  }

  /// The result of the job, or its error; `nil` before its commit.
  var result: [String]? { ended.withLock { $0 } }

  func run(in transaction: StoreTransaction) throws {
    let told = try body(transaction)
    latest.withLock { $0 = told }
  }

  func finish(_ failure: (any Error)?) {
    let told = failure.map { ["\($0)"] } ?? latest.withLock { $0 }
    ended.withLock { $0 = told }
  }
}

extension Store {
  /// Runs these jobs in one commit, in their order, and returns their results.
  func shareCommit(_ jobs: [KeptJob]) async throws -> [[String]] {
    let gate = DispatchSemaphore(value: 0)
    let isHeld = Mutex(false)
    // While one write holds the writer, the others gather for the next commit.
    async let blocker: Void = transactions.write { _ in
      isHeld.withLock { $0 = true }
      gate.wait()
    }
    try await eventually("a write holds the writer") { isHeld.withLock { $0 } }
    for job in jobs { transactions.writer.queue.add(job) }
    gate.signal()
    try await blocker
    try await transactions.write { _ in }
    return try jobs.map { try #require($0.result) }
  }

  /// Runs each of these jobs in a commit of its own, and returns their results.
  func commitEach(_ jobs: [KeptJob]) async throws -> [[String]] {
    var told: [[String]] = []
    for job in jobs {
      transactions.writer.queue.add(job)
      try await transactions.write { _ in }
      told.append(try #require(job.result))
    }
    return told
  }
}

/// All that a store holds of records, with no numbers in it that another store may have otherwise.
struct StoredState: Equatable {
  /// Zone, name, type and content, in the order of the last changes.
  var records: [String] = []
  var tombstones: [String] = []
  /// Field, key, zone and name of the record, in order.
  var index: [String] = []
  /// The rows that the records ought to have.
  var wantedIndex: [String] = []
  /// The `deleteSelf` references: target and holder, in order.
  var references: [String] = []
  /// Records with their parents and tops, in order.
  var places: [String] = []
  var outbox: [String] = []
  /// Zones in the order of their last changes.
  var zones: [String] = []
  var bytes: [String] = []
  /// Impossible states: numbers above the drawn ones, records newer than their zones.
  var faults: [String] = []

  init(of store: Store, databases: [DatabaseID]) async throws {
    // A reader may not know fields yet that were made by saving them.
    self = try await store.transactions.write { try StoredState(in: $0) }
    for database in databases {
      outbox += try await store.outbox.undispatchedChanges(
        in: .whole(database), after: 0, limit: 100_000
      )
      .map {
        "\($0.change.event) \($0.change.zoneID) \($0.change.record?.recordID.recordName ?? "")"
      }
    }
  }

  private init(in transaction: StoreTransaction) throws {
    let connection = transaction.connection
    func lines(_ statement: String) throws -> [String] {
      try connection.rows("SELECT \(statement)", []) { $0.text(0) }
    }
    // The engines agree on little that makes a text of bytes.
    func hex(_ column: String) -> String {
      connection is PostgreSQLConnection ? "upper(encode(\(column), 'hex'))" : "hex(\(column))"
    }
    let zone = "zones USING (database_id, zone_number)"
    records = try lines(
      """
      database_id || ' ' || zone_name || ' ' || record_name || ' ' || type_number || ' '
        || \(hex("content"))
      FROM records JOIN \(zone) ORDER BY records.database_id, records.version
      """)
    tombstones = try lines(
      """
      database_id || ' ' || zone_name || ' ' || record_name
      FROM tombstones JOIN \(zone) ORDER BY tombstones.database_id, tombstones.version
      """)
    // A row without its record shows as one of nobody.
    index = try lines(
      """
      value_index.database_id || ' ' || field_number || ' ' || \(hex("value_key")) || ' '
        || COALESCE(zone_name, 'nowhere') || ' ' || COALESCE(record_name, 'nobody')
      FROM value_index LEFT JOIN records USING (database_id, record_number)
        LEFT JOIN zones ON zones.database_id = value_index.database_id
          AND zones.zone_number = value_index.zone_number
      """
    ).sorted()
    references = try lines(
      """
      reference_edges.database_id || ' ' || target_name || ' ' || COALESCE(record_name, 'nobody')
      FROM reference_edges LEFT JOIN records ON records.database_id = reference_edges.database_id
        AND records.record_number = holder_number
      """
    ).sorted()
    places = try lines(
      """
      hierarchy.database_id || ' ' || COALESCE(record.record_name, 'nobody') || ' below '
        || COALESCE(parent.record_name, '') || ' in ' || COALESCE(top.record_name, '')
      FROM hierarchy LEFT JOIN records AS record ON record.database_id = hierarchy.database_id
          AND record.record_number = hierarchy.record_number
        LEFT JOIN records AS parent ON parent.database_id = hierarchy.database_id
          AND parent.record_number = parent_number
        LEFT JOIN records AS top ON top.database_id = hierarchy.database_id
          AND top.record_number = top_number
      """
    ).sorted()
    var wantedReferences: [String] = []
    let allRecords: Statement = "SELECT \(StoredRecord.columns), records.database_id FROM records"
    let rows = try connection.rows(allRecords, []) {
      (StoredRecord.Row($0), DatabaseID(rawValue: $0.integer(6)))
    }
    for (row, database) in rows {
      let record = try RecordTable(transaction: transaction).record(row, in: database).record
      wantedReferences += record.deleteSelfTargets.map {
        "\(database.rawValue) \($0) \(record.recordID.recordName)"
      }
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      guard
        let type = try RecordTypeTable(transaction: transaction).type(
          named: record.recordType, at: address)
      else {
        faults.append("\(record.recordID) has no type")
        continue
      }
      for entry in try ValueIndexTable(transaction: transaction).entries(
        of: record, type: type, at: address
      ).list {
        let key = entry.key.map { String(format: "%02X", $0) }.joined()
        wantedIndex.append(
          "\(database.rawValue) \(entry.fieldNumber) \(key) \(record.recordID.zoneID.zoneName) "
            + record.recordID.recordName)
      }
    }
    wantedIndex.sort()
    if references != wantedReferences.sorted() { faults.append("other references") }
    zones = try lines("database_id || ' ' || zone_name FROM zones ORDER BY database_id, version")
    bytes = try lines("database_id || ' ' || stored_bytes FROM databases ORDER BY database_id")
    faults += try lines(
      """
      'newer than its zone: ' || record_name FROM records JOIN \(zone)
      WHERE records.version > zones.version
      """)
    faults += try lines(
      """
      'not drawn: ' || zone_name FROM zones JOIN databases USING (database_id)
      WHERE version > last_number
      """)
    faults += try lines(
      """
      'the tombstone of what is there: ' || record_name FROM tombstones
      JOIN records USING (database_id, zone_number, record_name)
      """)
  }
}
