/// A step from one form of the store to the next.
struct Migration: Sendable {
  /// The form that the step leads to; the first is 1.
  var version: Int64
  /// Definitions in PostgreSQL's words; `SQLConnection.definition(_:)` turns them into the engine's.
  var statements: [String]
  /// Fills in what the new form derives from stored contents, which SQL cannot read.
  var fill: (@Sendable (any SQLConnection) throws -> Void)?

  /// Brings the store to the last of `migrations`, in one transaction.
  ///
  /// Throws ``StoreError/Code/newerSchema`` when the store has a later form than that.
  static func apply(_ migrations: [Migration], to connection: any SQLConnection) throws {
    let newest = migrations.last?.version ?? 0
    if let version = try? currentVersion(of: connection), version == newest { return }
    try connection.beginMigrating()
    do {
      try connection.execute("CREATE TABLE IF NOT EXISTS store_form (version BIGINT NOT NULL)")
      let version = try currentVersion(of: connection)
      guard version != StoreMove.unfinishedForm else {
        throw StoreError(
          .cannotOpen,
          "a store is being migrated to here, and not all of it has come yet: "
            + "'petrel store migrate' with the same words as before goes on")
      }
      guard version <= newest else {
        throw StoreError(
          .newerSchema,
          "the store has form \(version), written by a newer Petrel; this one knows forms up to "
            + "\(newest). Use the newer program")
      }
      try run(migrations.filter { $0.version > version }, on: connection)
      try connection.run("DELETE FROM store_form", [])
      try connection.run("INSERT INTO store_form (version) VALUES ($1)", [.integer(newest)])
      try connection.commit()
    } catch {
      if connection.isInTransaction { try? connection.rollback() }
      throw error
    }
  }

  static func run(_ migrations: [Migration], on connection: any SQLConnection) throws {
    for migration in migrations {
      for statement in migration.statements {
        try connection.execute(connection.definition(statement))
      }
      try migration.fill?(connection)
    }
  }

  private static func currentVersion(of connection: any SQLConnection) throws -> Int64 {
    try connection.first("SELECT version FROM store_form", []) { $0.integer(0) } ?? 0
  }
}
