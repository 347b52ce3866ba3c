import SQLEngine
import StoreModel

/// A step from one schema version of the store to the next.
package struct Migration: Sendable {
  /// The schema version that the step leads to; the first is 1.
  var version: Int64
  /// Definitions in PostgreSQL's words; `SQLConnection.definition(_:)` turns them into the engine's.
  var statements: [String]
  /// Fills in what the new schema version derives from stored contents, which SQL cannot read.
  var fill: (@Sendable (any SQLConnection) throws -> Void)?
  /// Whether programs of the version before can go on with the store beside those of this one, as in a
  /// rolling upgrade. Such a step adds what they need not know of, and changes nothing of what they do.
  var isGradual = false

  package static let definition =
    "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"

  /// The schema version of a store that is being made by a move: no program opens it.
  package static let unfinishedVersion: Int64 = -1

  /// The counter that tells the oldest schema version whose programs may use the store.
  private static let leastVersion = "least_version"

  /// Brings the store to the last of `migrations`, in one transaction. One of a later schema version is
  /// left as it is, if programs of this version may use it.
  ///
  /// - Throws: ``StoreError/Code/newerSchema`` when the store has a later version that this program does not
  ///   understand; ``StoreError/Code/olderSchema`` when it has one from before the first of `migrations`;
  ///   ``StoreError/Code/cannotOpen`` when servers have it open that would not understand the new one.
  static func apply(_ migrations: [Migration], to connection: any SQLConnection) throws {
    let newest = migrations.last?.version ?? 0
    // A store without a version is looked at below, with locks.
    if let version = try? currentVersion(of: connection), version == newest { return }
    do {
      try begin(on: connection)
      let version = try currentVersion(of: connection)
      guard version != unfinishedVersion else {
        throw StoreError(
          .cannotOpen,
          "a store is being migrated to here, and not all of it has come yet: "
            + "'petrel store migrate' with the same words as before goes on")
      }
      if version > newest {
        try checkUse(of: version, by: newest, connection)
      } else {
        // A store of before this table has others.
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

  /// Begins a transaction that changes the schema version of the store. Those who do so wait for each other,
  /// and for who writes.
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

  /// Checks that a program may use a store of a later schema version than its own.
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

  /// Checks that nobody has the store open who would not understand its new schema version.
  private static func checkServers(_ connection: any SQLConnection, _ last: Migration) throws {
    guard connection.isShared else { return }
    guard let server = try ServerTable.anyAlive(over: connection) else { return }
    throw StoreError(
      .cannotOpen,
      "the store would get schema version \(last.version), which servers that have it open do not understand "
        + "(\(server)); stop them first")
  }

  package static func run(_ migrations: [Migration], on connection: any SQLConnection) throws {
    for migration in migrations {
      for statement in migration.statements {
        try connection.execute(connection.definition(statement))
      }
      try migration.fill?(connection)
    }
  }

  /// Writes what is there, to see whether the store takes a write.
  static func writeVersionAgain(over connection: any SQLConnection) throws {
    _ = try connection.run("UPDATE schema_version SET version = version", [])
  }

  /// The schema version of a store, which its migrations have led to; nil where there is none yet.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` when there is no store.
  package static func version(over connection: any SQLConnection) throws -> Int64? {
    try connection.first("SELECT version FROM schema_version", []) { $0.integer(0) }
  }

  /// Says of a store which schema version it has.
  package static func set(_ version: Int64, over connection: any SQLConnection) throws {
    try connection.run("DELETE FROM schema_version", [])
    try connection.run("INSERT INTO schema_version (version) VALUES ($1)", [.integer(version)])
  }

  private static func currentVersion(of connection: any SQLConnection) throws -> Int64 {
    try version(over: connection) ?? 0
  }
}
