import Cryptography
import Foundation
import SQLEngine
import Storage
import StoreModel

/// The execution of a move of one store into another.
///
/// A move has five steps:
///
/// 1. It creates empty tables in the target. The schema version of the target marks the store as
///    unfinished, so no server can open it.
/// 2. It copies the rows.
/// 3. It copies the asset files.
/// 4. It compares all rows of both stores.
/// 5. It sets the schema version, so that servers can open the target.
///
/// One thread does all the work.
final class StoreMover {
  private static let stateTable = "store_move"
  /// The tables about the store itself, which are not copied.
  static let ownTables: Set = ["schema_version", stateTable]
  /// The tables about servers and nodes, whose rows have no meaning in another store and are not
  /// copied.
  static let tablesOfServers: Set = [
    "servers", "dispatch_leases", "part_dispatches", "announcements", "store_shards",
  ]

  /// The progress as stored in the target.
  private struct State {
    var table: String
    var key: [SQLValue]?
    var rows: Int64
  }

  /// Whether an earlier move was completed: this one then only compares the stores.
  private var isFinished = false
  let source: StoreMoveEnd
  let target: StoreMoveEnd
  private let limits: StoreMove.BatchLimits
  private let committed: (StoreMove.Progress) throws -> Void
  private let report: (StoreMove.Progress) -> Void
  private var progress = StoreMove.Progress()
  var result = StoreMove.Result()

  init(
    source: StoreMoveEnd, target: StoreMoveEnd, limits: StoreMove.BatchLimits,
    committed: @escaping (StoreMove.Progress) throws -> Void,
    report: @escaping (StoreMove.Progress) -> Void
  ) {
    self.source = source
    self.target = target
    self.limits = limits
    self.committed = committed
    self.report = report
  }

  func run() throws -> StoreMove.Result {
    let state = try prepare()
    try source.connection.beginReading()
    let tables = try matchingTables()
    progress.tables = tables.count
    progress.rows = Int(state.rows)
    for (number, table) in tables.enumerated() {
      progress.tableNumber = number + 1
      progress.table = table.name
      if isFinished || table.name < state.table { continue }
      if table.name == state.table, state.key == nil { continue }
      try copy(table, after: table.name == state.table ? state.key : nil)
    }
    progress.stage = .copyingAssets
    try copyAssets { [self] in
      progress.assets += 1
      report(progress)
    }
    progress.stage = .comparing
    progress.rows = 0
    try target.connection.beginReading()
    for (number, table) in tables.enumerated() {
      progress.tableNumber = number + 1
      progress.table = table.name
      do {
        result.tables.append(
          try StoreComparison(
            table: table, source: source.connection, target: target.connection
          ).run { [self] rows in
            progress.rows += rows
            report(progress)
          })
      } catch  where isFinished {
        throw tablesThere(tables[0].name)
      }
    }
    try target.connection.commit()
    try source.connection.commit()
    if !isFinished { try finish(tables) }
    return result
  }

  // MARK: Beginning and end

  /// The source's waiting entries of the notification log are added to the log's index first: the
  /// only change of the source.
  ///
  /// - Throws: ``StoreError/Code/exists`` if the target has other contents, or if the source was
  ///   changed since the earlier move began; ``StoreError/Code/cannotOpen`` if a database of the
  ///   source is divided into parts.
  private func prepare() throws -> State {
    try checkIsWhole()
    try NotificationIndexTable.fileAll(over: source.connection)
    let fingerprint = try fingerprint(of: source.connection)
    let names = try SQLTable.names(target.connection)
    guard names.contains(Self.stateTable) else {
      if try isCopy(names, fingerprint) {
        isFinished = true
        result.isContinued = true
        return State(table: "", key: nil, rows: 0)
      }
      guard names.isEmpty else {
        throw tablesThere(names[0])
      }
      try makeEmptyStore(fingerprint)
      return State(table: "", key: nil, rows: 0)
    }
    let found = try target.connection.first(
      "SELECT source, fingerprint, table_name, last_key, row_count FROM \(Self.stateTable)", []
    ) { row in
      (
        source: row.text(0), fingerprint: row.text(1), table: row.text(2),
        key: row.isNull(3) ? nil : row.bytes(3), rows: row.integer(4)
      )
    }
    guard let found, found.source == source.name else {
      throw StoreError(
        .exists,
        "'\(target.name)' has an unfinished migration of another store"
          + (found.map { ", '\($0.source)'" } ?? "")
          + "; complete that migration, or empty the target")
    }
    guard found.fingerprint == fingerprint else {
      throw StoreError(
        .exists,
        "the store at '\(source.name)' was changed after its migration to '\(target.name)' began; "
          + "empty the target and start again")
    }
    let key = found.key.map(CanonicalRow.values)
    if case .some(.none) = key {
      throw StoreError(.corrupt, "'\(target.name)' does not record the progress of its migration")
    }
    result.isContinued = true
    return State(table: found.table, key: key ?? nil, rows: found.rows)
  }

  private func tablesThere(_ name: String) -> StoreError {
    StoreError(
      .exists,
      "'\(target.name)' already has tables ('\(name)'); nothing is overwritten: choose a place that is "
        + "empty")
  }

  /// False if the fingerprints differ, because a program has since changed one of the stores.
  private func isCopy(_ names: [String], _ fingerprint: String) throws -> Bool {
    guard ["schema_version", "counters", "databases"].allSatisfy(names.contains) else {
      return false
    }
    let version = try Migration.version(over: target.connection)
    return try version == Schema.newestVersion
      && self.fingerprint(of: target.connection) == fingerprint
  }

  /// The division of a database into parts is not copied.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` for a divided database.
  private func checkIsWhole() throws {
    let divided = try source.connection.first(
      """
      SELECT container, environment FROM dispatch_leases JOIN databases
        ON databases.database_id = dispatch_leases.database_id
      WHERE parts > 1 LIMIT 1
      """, []
    ) { (container: $0.text(0), environment: $0.text(1)) }
    guard let divided else { return }
    throw StoreError(
      .cannotOpen,
      "the public database of '\(divided.container)' (\(divided.environment)) in '\(source.name)' is "
        + "dispatched in parts; combine the parts first: 'petrel databases partition --parts 1'")
  }

  /// A digest of the counters and of the rows of databases, which have the last numbers that
  /// changes have used. It differs after a change of records, zones or subscriptions.
  private func fingerprint(of connection: any SQLConnection) throws -> String {
    let hasher = SHA256Hasher()
    for name in ["counters", "databases"] {
      let table = try SQLTable(named: name, in: connection)
      try connection.query(table.selection(), []) { row in
        var bytes: [UInt8] = []
        CanonicalRow.append(row, table.columns, to: &bytes)
        hasher.update(bytes)
      }
    }
    return hasher.finish().hexadecimal
  }

  private func makeEmptyStore(_ fingerprint: String) throws {
    let connection = target.connection
    try connection.beginWriting()
    try connection.execute(Migration.definition)
    try Migration.set(Migration.unfinishedVersion, over: connection)
    try Migration.run(Schema.migrations, on: connection)
    // Migrations insert some rows into a new store. The move copies these rows from the source.
    for name in try SQLTable.names(connection) where !Self.ownTables.contains(name) {
      try connection.execute("DELETE FROM \(name)")
    }
    try connection.execute(
      connection.definition(
        """
        CREATE TABLE \(Self.stateTable) (
          source TEXT NOT NULL, fingerprint TEXT NOT NULL, table_name TEXT NOT NULL,
          last_key BYTEA, row_count BIGINT NOT NULL)
        """))
    try connection.run(
      """
      INSERT INTO \(Self.stateTable) (source, fingerprint, table_name, row_count)
      VALUES ($1, $2, '', 0)
      """, [.text(source.name), .text(fingerprint)])
    try connection.commit()
  }

  /// The tables that this program's migrations have created in the target, by name.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if a table of the source is missing or different.
  private func matchingTables() throws -> [SQLTable] {
    let sourceNames = Set(try SQLTable.names(source.connection))
    return try SQLTable.names(target.connection)
      .filter { !Self.ownTables.contains($0) && !Self.tablesOfServers.contains($0) }
      .map { name in
        let table = try SQLTable(named: name, in: target.connection)
        guard sourceNames.contains(name),
          try SQLTable(named: name, in: source.connection) == table
        else {
          throw StoreError(
            .corrupt,
            "the store at '\(source.name)' has no table '\(name)' of this program's schema")
        }
        return table
      }
  }

  private func finish(_ tables: [SQLTable]) throws {
    let connection = target.connection
    try connection.beginWriting()
    try Migration.set(Schema.newestVersion, over: connection)
    try connection.execute("DROP TABLE \(Self.stateTable)")
    try makeDispatchLeases(connection)
    try connection.commit()
    // PostgreSQL chooses query plans by statistics. The store's statements on SQLite need none.
    guard connection.kind == .postgreSQL else { return }
    for table in tables { try connection.execute("ANALYZE \(table.name)") }
  }

  /// A database with rows in the outbox needs a lease without a holder, so that a server finds it
  /// and dispatches its changes. A store for one server has no leases.
  private func makeDispatchLeases(_ connection: any SQLConnection) throws {
    guard connection.isShared else { return }
    try connection.run(
      """
      INSERT INTO dispatch_leases (database_id, holder, wake_up)
      SELECT DISTINCT database_id, 0, 0 FROM outbox
      """, [])
  }

  // MARK: Rows

  private func copy(_ table: SQLTable, after key: [SQLValue]?) throws {
    var intake = target.connection.intake(into: table)
    var isOpen = false
    var rows = 0
    var bytes = 0
    try source.connection.query(table.selection(follows: key != nil), key ?? []) { row in
      if !isOpen {
        try target.connection.beginWriting()
        try intake.begin()
        isOpen = true
      }
      try intake.add(row)
      rows += 1
      bytes += table.size(of: row)
      guard rows >= limits.rows || bytes >= limits.bytes else { return }
      try intake.end()
      try commit(rows, through: table.key(of: row), of: table)
      isOpen = false
      rows = 0
      bytes = 0
    }
    if isOpen { try intake.end() } else { try target.connection.beginWriting() }
    try commit(rows, through: nil, of: table)
  }

  /// A key of nil says that all rows of the table are copied.
  private func commit(_ rows: Int, through key: [SQLValue]?, of table: SQLTable) throws {
    try target.connection.run(
      """
      UPDATE \(Self.stateTable) SET table_name = $1, last_key = $2, row_count = row_count + $3
      """,
      [
        .text(table.name), key.map { .bytes(CanonicalRow.bytes(of: $0)) } ?? .null,
        .integer(Int64(rows)),
      ])
    try target.connection.commit()
    progress.rows += rows
    report(progress)
    try committed(progress)
  }
}

extension SQLTable {
  func size(of row: any SQLRow) -> Int {
    columns.enumerated().reduce(0) { size, column in
      column.element.kind == .integer ? size + 8 : size + row.buffer(Int32(column.offset)).count
    }
  }
}
