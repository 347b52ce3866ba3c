import CloudKitModel
import SQLEngine
import StoreModel

/// The rows and statements that a transaction's jobs have decided on, and the rows that they have
/// read of the same tables.
///
/// The statements are run in their order, then the rows are written together, one statement a table:
/// before the commit, or before a statement that names one of their tables (`StatementGate`). A job
/// that fails before that has written nothing, and its decisions are dropped.
struct WriteSet {
  /// The key of a record or a tombstone.
  struct RecordKey: Hashable {
    var database: DatabaseID
    var zone: Int64
    var name: String
  }

  /// The numbers of a database.
  struct DatabaseNumbers {
    /// The last number that was drawn from the database's sequence, which serves its records,
    /// zones, versions, changes, log entries and deliveries. A transaction draws under the lock of
    /// the database, so its commits happen in the order of their numbers.
    var last: Int64
    var subscriptionVersion: Int64
    /// The bytes without ``WriteSet/addedBytes``.
    var bytes: Int64
  }

  /// The row of a deleted record.
  struct Tombstone {
    var typeNumber: Int64
    var version: Int64
    var deleted: Timestamp
  }

  /// A statement whose result nobody needs. None of its tables has rows that were decided on before.
  struct DecidedStatement {
    fileprivate(set) var statement: Statement
    fileprivate(set) var arguments: [SQLValue]
    fileprivate var tables: StatementGate.Tables
    fileprivate var byteCount: Int
  }

  /// The tables whose rows can be in memory, for the gate of a connection.
  enum Table: Int, CaseIterable {
    case databases, zones, records, tombstones, outbox, valueIndex, notificationLog
    case notificationIndex, deliveries, dispatches, answeredRequests
    /// Their rows are only read in advance (``ReadSet``).
    case dispatchLeases, deviceTokens

    var name: String {
      switch self {
      case .databases: "databases"
      case .zones: "zones"
      case .records: "records"
      case .tombstones: "tombstones"
      case .outbox: "outbox"
      case .valueIndex: "value_index"
      case .notificationLog: "notification_log"
      case .notificationIndex: "notification_index"
      case .deliveries: "deliveries"
      case .dispatches: "dispatches"
      case .answeredRequests: "answered_requests"
      case .dispatchLeases: "dispatch_leases"
      case .deviceTokens: "device_tokens"
      }
    }
    var bit: StatementGate.Tables { 1 << StatementGate.Tables(rawValue) }
  }

  private var statements: [DecidedStatement] = []
  var databases = RowOverlay<DatabaseID, DatabaseNumbers>()
  var addedBytes = RowOverlay<DatabaseID, Int64>()
  var zoneVersions = RowOverlay<Catalog.ZoneKey, Int64>()
  var records = RowOverlay<RecordKey, StoredRecord.Row>()
  var tombstones = RowOverlay<RecordKey, Tombstone>()
  var index = IndexChanges()
  var outbox: [(entry: OutboxEntry, content: [UInt8])] = []
  var log = RowInsertion(NotificationLogTable.sql.insertion)
  var logIndex = RowInsertion(NotificationIndexTable.sql.insertion)
  var deliveries = RowInsertion(DeliveryTable.sql.insertion)
  var dispatches = RowOverlay<DispatchTable.Key, DispatchTable.Row>()
  var answeredRequests = RowOverlay<AnsweredRequest, AnsweredRequestTable.Row>()
  // Rows that decided statements change, so that a lookup by key need not run the statements. The
  // types of the tables keep them up to date; a statement that changes rows of unknown keys is run
  // at once, and they are forgotten.
  var counters = RowOverlay<String, Int64>()
  var assets = RowOverlay<AssetKey, AssetTable.File>()
  var places = RowOverlay<PlaceKey, HierarchyTable.Place>()
  /// The numbers of `deleteSelf` references to a record; nil if one was added or removed to an
  /// unknown number.
  var referenceCounts = RowOverlay<RecordKey, Int>()
  /// nil for a zone that does not exist.
  var zoneNumbers: [ZonePlace: Int64?] = [:]
  var zonesWithoutTombstones: Set<Catalog.ZoneKey> = []

  /// The key of a file.
  struct AssetKey: Hashable {
    var database: DatabaseID
    var checksum: String
  }

  /// The key of a record's place in a hierarchy.
  struct PlaceKey: Hashable {
    var database: DatabaseID
    var record: Int64
  }

  /// The name of a zone in a database.
  struct ZonePlace: Hashable {
    var zoneID: ZoneID
    var database: DatabaseID
  }

  /// The number of rows at which they are written, although no statement names their tables. The
  /// limit bounds the memory of a large commit.
  private static let (rowLimit, indexLimit) = (8_192, 100_000)
  /// The size of new log entries and of decided statements at which the same holds.
  private static let byteLimit = 4 << 20

  var isFull: Bool {
    records.changeCount + outbox.count + log.count + statements.count >= Self.rowLimit
      || index.count >= Self.indexLimit
      || log.byteCount + (statements.last?.byteCount ?? 0) >= Self.byteLimit
  }

  var hasStatements: Bool { !statements.isEmpty }

  var decidedTables: StatementGate.Tables { statements.last?.tables ?? 0 }

  mutating func decide(
    _ statement: Statement, _ arguments: [SQLValue], naming tables: StatementGate.Tables
  ) {
    statements.append(
      DecidedStatement(
        statement: statement, arguments: arguments, tables: decidedTables | tables,
        byteCount: (statements.last?.byteCount ?? 0) + arguments.reduce(0) { $0 + $1.byteCount }))
  }

  mutating func takeStatements() -> [DecidedStatement] {
    defer { statements = [] }
    return statements
  }

  /// A state to which the write set can return, as long as nothing was written.
  struct Mark {
    fileprivate var databases, addedBytes, zoneVersions, records, tombstones, dispatches: Int
    fileprivate var answeredRequests, counters, assets, places, referenceCounts: Int
    fileprivate var log, logIndex, deliveries: RowInsertion.Mark
    fileprivate var index: IndexChanges.Mark
    fileprivate var outboxCount, statementCount: Int
  }

  mutating func mark() -> Mark {
    Mark(
      databases: databases.mark(), addedBytes: addedBytes.mark(),
      zoneVersions: zoneVersions.mark(), records: records.mark(), tombstones: tombstones.mark(),
      dispatches: dispatches.mark(), answeredRequests: answeredRequests.mark(),
      counters: counters.mark(), assets: assets.mark(), places: places.mark(),
      referenceCounts: referenceCounts.mark(), log: log.mark,
      logIndex: logIndex.mark,
      deliveries: deliveries.mark, index: index.mark, outboxCount: outbox.count,
      statementCount: statements.count)
  }

  mutating func restore(to mark: Mark) {
    databases.restore(to: mark.databases)
    addedBytes.restore(to: mark.addedBytes)
    zoneVersions.restore(to: mark.zoneVersions)
    records.restore(to: mark.records)
    tombstones.restore(to: mark.tombstones)
    dispatches.restore(to: mark.dispatches)
    answeredRequests.restore(to: mark.answeredRequests)
    counters.restore(to: mark.counters)
    assets.restore(to: mark.assets)
    places.restore(to: mark.places)
    referenceCounts.restore(to: mark.referenceCounts)
    log.restore(to: mark.log)
    logIndex.restore(to: mark.logIndex)
    deliveries.restore(to: mark.deliveries)
    index.restore(mark.index)
    outbox.removeSubrange(mark.outboxCount...)
    statements.removeSubrange(mark.statementCount...)
  }

  var unwritten: StatementGate.Tables {
    var tables: StatementGate.Tables = 0
    if databases.hasChanges || addedBytes.hasChanges { tables |= Table.databases.bit }
    if zoneVersions.hasChanges { tables |= Table.zones.bit }
    if records.hasChanges { tables |= Table.records.bit }
    if tombstones.hasChanges { tables |= Table.tombstones.bit }
    if !outbox.isEmpty { tables |= Table.outbox.bit }
    if index.count > 0 { tables |= Table.valueIndex.bit }
    if log.count > 0 { tables |= Table.notificationLog.bit }
    if logIndex.count > 0 { tables |= Table.notificationIndex.bit }
    if deliveries.count > 0 { tables |= Table.deliveries.bit }
    if dispatches.hasChanges { tables |= Table.dispatches.bit }
    if answeredRequests.hasChanges { tables |= Table.answeredRequests.bit }
    return tables
  }

  mutating func forget(_ tables: StatementGate.Tables) {
    if tables & Table.databases.bit != 0 { databases.forget() }
    if tables & Table.dispatches.bit != 0 { dispatches.forget() }
    if tables & Table.answeredRequests.bit != 0 { answeredRequests.forget() }
    if tables & Table.zones.bit != 0 { zoneNumbers = [:] }
    if tables & Table.records.bit != 0 { records.forget() }
    if tables & Table.tombstones.bit != 0 {
      tombstones.forget()
      zonesWithoutTombstones = []
    }
  }
}

extension SQLValue {
  fileprivate var byteCount: Int {
    switch self {
    case .null, .integer: 0
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    }
  }
}
