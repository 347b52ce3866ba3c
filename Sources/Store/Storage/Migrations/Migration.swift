import SQLEngine
import StoreModel

/// A step from one form of the store to the next.
package struct Migration: Sendable {
  /// The form that the step leads to; the first is 1.
  var version: Int64
  /// Definitions in PostgreSQL's words; `SQLConnection.definition(_:)` turns them into the engine's.
  var statements: [String]
  /// Fills in what the new form derives from stored contents, which SQL cannot read.
  var fill: (@Sendable (any SQLConnection) throws -> Void)?
  /// Whether programs of the form before can go on with the store beside those of this one, as in a
  /// rolling upgrade. Such a step adds what they need not know of, and changes nothing of what they do.
  var isGradual = false

  /// The form of a store that is being made by a move: no program opens it.
  package static let unfinishedForm: Int64 = -1

  /// The counter that tells the oldest form whose programs may use the store.
  private static let leastForm = "least_form"

  /// Brings the store to the last of `migrations`, in one transaction. One of a later form is left as it
  /// is, if programs of this form may use it.
  ///
  /// - Throws: ``StoreError/Code/newerSchema`` when the store has a later form that this program does not
  ///   understand; ``StoreError/Code/olderSchema`` when it has one from before the first of `migrations`;
  ///   ``StoreError/Code/cannotOpen`` when servers have it open that would not understand the new one.
  static func apply(_ migrations: [Migration], to connection: any SQLConnection) throws {
    let newest = migrations.last?.version ?? 0
    if let version = try? currentVersion(of: connection), version == newest { return }
    do {
      try begin(on: connection)
      let version = try currentVersion(of: connection)
      guard version != unfinishedForm else {
        throw StoreError(
          .cannotOpen,
          "a store is being migrated to here, and not all of it has come yet: "
            + "'petrel store migrate' with the same words as before goes on")
      }
      if version > newest {
        try checkUse(of: version, by: newest, connection)
      } else {
        if version > 0 { try Schema.checkIsNotTooOld(version) }
        try run(migrations.filter { $0.version > version }, from: version, on: connection)
      }
      try connection.commit()
    } catch {
      if connection.isInTransaction { try? connection.rollback() }
      throw error
    }
  }

  /// Begins a transaction that changes the form of the store. Those who do so wait for each other, and for
  /// who writes.
  static func begin(on connection: any SQLConnection) throws {
    try connection.beginAlone(
      with: "store_form",
      definedBy: "CREATE TABLE IF NOT EXISTS store_form (version BIGINT NOT NULL)")
    guard connection.isShared else { return }
    let isThere = try connection.first("SELECT to_regclass('databases') IS NOT NULL", []) {
      $0.integer(0) != 0
    }
    if isThere == true {
      try connection.execute("LOCK TABLE counters, databases IN EXCLUSIVE MODE")
    }
  }

  /// Checks that a program may use a store of a later form than its own.
  private static func checkUse(
    of version: Int64, by newest: Int64, _ connection: any SQLConnection
  ) throws {
    let least = try CounterTable.value(of: leastForm, over: connection)
    guard least.map({ $0 <= newest }) ?? false else {
      throw StoreError(
        .newerSchema,
        "the store has form \(version), written by a newer Petrel; this one knows forms up to "
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
    try connection.run("DELETE FROM store_form", [])
    try connection.run("INSERT INTO store_form (version) VALUES ($1)", [.integer(last.version)])
    if let least { try CounterTable.set(leastForm, to: least, over: connection) }
  }

  /// Checks that nobody has the store open who would not understand its new form.
  private static func checkServers(_ connection: any SQLConnection, _ last: Migration) throws {
    guard connection.isShared else { return }
    guard let server = try ServerTable.anyAlive(over: connection) else { return }
    throw StoreError(
      .cannotOpen,
      "the store would get form \(last.version), which servers that have it open do not understand "
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
  static func writeFormAgain(over connection: any SQLConnection) throws {
    _ = try connection.run("UPDATE store_form SET version = version", [])
  }

  private static func currentVersion(of connection: any SQLConnection) throws -> Int64 {
    try connection.first("SELECT version FROM store_form", []) { $0.integer(0) } ?? 0
  }
}
