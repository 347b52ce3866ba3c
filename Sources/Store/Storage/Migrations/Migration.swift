import SQLEngine
import StoreModel

/// A step from one schema version of the store to the next.
///
/// ``apply(_:to:)`` runs the missing steps when a store is opened. A store is never migrated back.
///
/// To change the schema after a release, append a step to ``Schema/migrations`` with the next
/// version. Never change a released step.
package struct Migration: Sendable {
  /// The schema version that the step leads to. Each step has a greater version than the one
  /// before.
  var version: Int64
  /// Definitions in PostgreSQL's dialect; `SQLConnection.definition(_:)` translates them into the
  /// engine's. They run in order.
  var statements: [String]
  /// Fills in new columns from stored contents that SQL cannot decode. The function runs after the
  /// statements, in the same transaction.
  var fill: (@Sendable (any SQLConnection) throws -> Void)?
  /// Whether programs of the version before can keep using the store, as in a rolling upgrade. Such
  /// a step only adds what those programs need not know.
  ///
  /// After another kind of step, those programs refuse the store with
  /// ``StoreError/Code/newerSchema``.
  var isGradual = false

  /// The table with the schema version. The table has one row, or none before the first migration.
  package static let definition =
    "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"

  /// The schema version of a store that `petrel store migrate` is filling: no program opens it.
  package static let unfinishedVersion: Int64 = -1

  /// The name of the counter with the oldest schema version whose programs may use the store. A
  /// gradual step leaves it.
  private static let leastVersion = "least_version"

  /// Applies the missing `migrations` in one transaction. A store of a later schema version stays
  /// as it is, if programs of this version may use it.
  ///
  /// A store of the newest version costs one statement. Otherwise the method locks the table of the
  /// version, reads it again and migrates. So two programs that open the store at the same moment
  /// migrate it once.
  ///
  /// - Throws: ``StoreError/Code/newerSchema`` if the store has a later version that this program
  ///   does not understand; ``StoreError/Code/olderSchema`` if it has a version before the first of
  ///   `migrations`; ``StoreError/Code/cannotOpen`` if servers have it open that would not
  ///   understand the new version.
  static func apply(_ migrations: [Migration], to connection: any SQLConnection) throws {
    let newest = migrations.last?.version ?? 0
    // An error here is ignored: the version is read again below, with locks.
    if let version = try? currentVersion(of: connection), version == newest { return }
    do {
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
        // A store without this table has tables from before the first release.
        let isNew = try version == 0 && !SQLTable.names(connection).contains("counters")
        if !isNew { try Schema.checkIsNotTooOld(version) }
        try run(migrations.filter { $0.version > version }, from: version, on: connection)
      }
      try connection.commit()
    } catch {
      connection.giveUpTransaction()
      throw error
    }
  }

  /// Begins a transaction that changes the store's schema version. Such transactions wait for each
  /// other and for writers.
  ///
  /// On a shared store, the locks keep writers out, but readers can go on until a statement changes
  /// their table.
  static func begin(on connection: any SQLConnection) throws {
    try connection.beginAlone(
      with: "schema_version",
      definedBy: definition)
    guard connection.isShared else { return }
    let isThere = try connection.first("SELECT to_regclass('databases') IS NOT NULL", []) {
      $0.integer(0) != 0
    }
    if isThere == true {
      try connection.execute("LOCK TABLE counters, databases IN EXCLUSIVE MODE")
    }
  }

  /// Checks whether a program may use a store of a later schema version than its own.
  ///
  /// - Throws: ``StoreError/Code/newerSchema`` if not.
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

  /// Checks that no server that would not understand the new schema version has the store open.
  ///
  /// A store in a file has a lock that only one server can hold, so the check is for shared stores.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` with the description of such a server.
  private static func checkServers(_ connection: any SQLConnection, _ last: Migration) throws {
    guard connection.isShared else { return }
    guard let server = try ServerTable.anyAlive(over: connection) else { return }
    throw StoreError(
      .cannotOpen,
      "the store cannot be migrated to schema version \(last.version), because a server that has "
        + "it open does not understand that version (\(server)); stop the store's servers first")
  }

  /// Runs the statements and the filling of each step. The caller has begun a transaction, and sets
  /// the version.
  package static func run(_ migrations: [Migration], on connection: any SQLConnection) throws {
    for migration in migrations {
      for statement in migration.statements {
        try connection.execute(connection.definition(statement))
      }
      try migration.fill?(connection)
    }
  }

  /// Writes the present version again, to check that the store accepts writes.
  ///
  /// - Throws: the error of the statement, such as ``StoreError/Code/full``.
  static func writeVersionAgain(over connection: any SQLConnection) throws {
    _ = try connection.run("UPDATE schema_version SET version = version", [])
  }

  /// A store's schema version; nil if it has none.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` if there is no store.
  package static func version(over connection: any SQLConnection) throws -> Int64? {
    try connection.first("SELECT version FROM schema_version", []) { $0.integer(0) }
  }

  /// Sets a store's schema version.
  package static func set(_ version: Int64, over connection: any SQLConnection) throws {
    try connection.run("DELETE FROM schema_version", [])
    try connection.run("INSERT INTO schema_version (version) VALUES ($1)", [.integer(version)])
  }

  /// The store's schema version; 0 for a new store.
  private static func currentVersion(of connection: any SQLConnection) throws -> Int64 {
    try version(over: connection) ?? 0
  }
}
