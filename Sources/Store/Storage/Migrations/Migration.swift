import SQLEngine
import StoreModel

/// A step from one schema version of the store to the next.
///
/// ``apply(_:to:)`` runs the missing steps when a store is opened. A store is never migrated back.
/// To change the schema after a release, append a step to ``Schema/migrations`` with the next
/// version. Never change a released step.
package struct Migration: Sendable {
  var version: Int64
  /// Definitions of tables and indexes in PostgreSQL's dialect, in order.
  /// `SQLConnection.definition(_:)` translates them into the engine's dialect.
  var statements: [String]
  /// Fills in values that SQL alone cannot compute, after the statements.
  var fill: (@Sendable (any SQLConnection) throws -> Void)?
  /// Whether programs of the version before this step can use the store after it, as in a rolling
  /// upgrade. Such a *gradual* step adds only tables and columns that these programs need not know.
  var isGradual = false

  /// The table with the schema version has one row, or none before the first migration.
  package static let definition =
    "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"

  /// The version of a store that `petrel store migrate` is filling. No program opens such a store.
  package static let unfinishedVersion: Int64 = -1

  /// The counter with the oldest schema version whose programs may use the store. A gradual step
  /// does not change it.
  private static let leastVersion = "least_version"

  /// Runs the `migrations` that the store lacks, in one transaction. A store with a later version
  /// that permits programs of this version stays as it is.
  ///
  /// If two programs open the store at the same moment, only one of them migrates.
  ///
  /// - Throws:
  ///   - ``StoreError/Code/newerSchema`` if the store has a later version that does not permit
  ///     programs of this version.
  ///   - ``StoreError/Code/olderSchema`` if the store is from before the first release.
  ///   - ``StoreError/Code/cannotOpen`` if a server that would not understand the new version has
  ///     the store open, or if `petrel store migrate` has not finished filling the store.
  static func apply(_ migrations: [Migration], to connection: any SQLConnection) throws {
    let newest = migrations.last?.version ?? 0
    // An error here is ignored: the version is read again below, with locks.
    if let version = try? currentVersion(of: connection), version == newest { return }
    try connection.committing {
      try begin(on: connection)
      let version = try currentVersion(of: connection)
      guard version != unfinishedVersion else {
        throw StoreError(
          .cannotOpen,
          "the migration of a store to this place is not complete; run 'petrel store migrate' "
            + "again with the same options to continue it")
      }
      if version > newest {
        try checkUse(of: version, by: newest, connection)
      } else {
        // A store with tables but without a schema version is from before the first release.
        let isNew = try version == 0 && !SQLTable.names(connection).contains("counters")
        if !isNew { try Schema.checkIsNotTooOld(version) }
        try run(migrations.filter { $0.version > version }, from: version, on: connection)
      }
    }
  }

  /// Begins a transaction that changes the schema version, of which only one runs at a time.
  ///
  /// On PostgreSQL the method locks `schema_version`, `counters` and `databases` against writes.
  /// Other transactions can read until a statement of the migration changes their table.
  static func begin(on connection: any SQLConnection) throws {
    try connection.beginAlone(with: "schema_version", definedBy: definition)
    guard connection.isShared else { return }
    if try connection.integer("SELECT to_regclass('databases') IS NOT NULL", []) == 1 {
      try connection.execute("LOCK TABLE counters, databases IN EXCLUSIVE MODE")
    }
  }

  private static func checkUse(
    of version: Int64, by newest: Int64, _ connection: any SQLConnection
  ) throws {
    let least = try CounterTable.value(of: leastVersion, over: connection)
    guard least.map({ $0 <= newest }) ?? false else {
      throw StoreError(
        .newerSchema,
        "the store has schema version \(version), written by a newer Petrel; this one knows versions up to "
          + "\(newest). Use the newer program")
    }
  }

  /// If a step is not gradual, also stores the least version (``leastVersion``), and first checks
  /// that no server has the store open. `version` is 0 for a new store.
  private static func run(
    _ steps: [Migration], from version: Int64, on connection: any SQLConnection
  ) throws {
    guard let last = steps.last else { return }
    let least = steps.last { !$0.isGradual }?.version
    if least != nil, version > 0 { try checkServers(connection, last) }
    try run(steps, on: connection)
    try set(last.version, over: connection)
    if let least { try CounterTable.set(leastVersion, to: least, over: connection) }
  }

  /// Only stores on PostgreSQL are checked. A lock on a file keeps other servers out.
  private static func checkServers(_ connection: any SQLConnection, _ last: Migration) throws {
    guard connection.isShared else { return }
    guard let server = try ServerTable.anyAlive(over: connection) else { return }
    throw StoreError(
      .cannotOpen,
      "the store cannot be migrated to schema version \(last.version), because a server that has "
        + "it open does not understand that version (\(server)); stop the store's servers first")
  }

  /// The caller has begun a transaction, and stores the new version afterwards.
  package static func run(_ migrations: [Migration], on connection: any SQLConnection) throws {
    for migration in migrations {
      for statement in migration.statements {
        try connection.execute(connection.definition(statement))
      }
      try migration.fill?(connection)
    }
  }

  static func writeVersionAgain(over connection: any SQLConnection) throws {
    _ = try connection.run("UPDATE schema_version SET version = version", [])
  }

  package static func version(over connection: any SQLConnection) throws -> Int64? {
    try connection.integer("SELECT version FROM schema_version", [])
  }

  package static func set(_ version: Int64, over connection: any SQLConnection) throws {
    try connection.run("DELETE FROM schema_version", [])
    try connection.run("INSERT INTO schema_version (version) VALUES ($1)", [.integer(version)])
  }

  private static func currentVersion(of connection: any SQLConnection) throws -> Int64 {
    try version(over: connection) ?? 0
  }
}
