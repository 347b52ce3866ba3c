import Foundation
import SQLEngine
import Storage
import StoreModel

/// One of the two stores of a move. Until the object is destroyed, no other program has the store
/// open: a `ServerLock` locks a file, the connection's exclusive advisory lock a store in
/// PostgreSQL.
final class StoreMoveEnd {
  let location: StoreLocation
  let connection: any SQLConnection
  /// The lock of a file; nil for PostgreSQL.
  private let lock: ServerLock?

  /// A path, or an address and a schema. A continued move recognizes the source by this name.
  let name: String

  /// Opens the source of a move.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no store, if its schema version is older
  ///   than this program's, or if a program has it open; ``StoreError/Code/newerSchema`` if its
  ///   schema version is newer; ``StoreError/Code/olderSchema`` if the store is from before the
  ///   first release.
  init(source location: StoreLocation) throws {
    self.location = location
    if let path = location.file { try StoreBackup.checkIsThere(path) }
    (connection, lock) = try Self.open(location, cacheKilobytes: 16_384)
    name = try Self.name(of: location, connection)
    do {
      try Self.checkSchemaVersion(of: connection, name)
      if connection.isShared { try ServedLocation.check(connection) }
    } catch {
      connection.close()
      throw error
    }
  }

  /// Does not check whether the target has contents, except for asset files beside a new file.
  ///
  /// - Throws: ``StoreError/Code/exists`` if the target is a new file and its asset folder has
  ///   files of another store; ``StoreError/Code/cannotOpen`` if a program has the target open.
  init(target location: StoreLocation, of source: StoreMoveEnd) throws {
    self.location = location
    var isNew = false
    if let path = location.file {
      isNew = !FileManager.default.fileExists(atPath: path)
      let folder = AssetFiles.folder(of: path)
      if !folder.isEmpty { try AssetFiles.makeFolder(folder) }
    }
    if isNew, let assets = location.assets, assets != source.location.assets,
      StoreBackup.hasAssets(in: assets)
    {
      throw StoreError(
        .exists, "'\(assets)' has files of another store; move it away first, or name another place"
      )
    }
    (connection, lock) = try Self.open(location, cacheKilobytes: 32_768)
    name = try Self.name(of: location, connection)
  }

  /// - Throws: ``StoreError/Code/cannotOpen`` if a program has the store open, or for a store in
  ///   memory.
  private static func open(
    _ location: StoreLocation, cacheKilobytes: Int
  ) throws -> (any SQLConnection, ServerLock?) {
    var tuning = StoreConfiguration.Tuning()
    tuning.cacheKilobytes = cacheKilobytes
    switch location {
    case .memory:
      throw StoreError(.cannotOpen, "a store in memory cannot be moved")
    case .file(let path):
      guard !ServerLock.isHeld(forStoreAt: path) else {
        throw StoreError(.cannotOpen, "a server has the store at '\(path)' open; stop it first")
      }
      let lock = try ServerLock(forStoreAt: path)
      try SQLiteConnection.checkLog(ofFileAt: path)
      let connection = try location.connect(
        tuning, locksRows: true, serves: true,
        checkpointPages: tuning.checkpointPages)
      return (connection, lock)
    case .postgreSQL(let address, _):
      // This connection takes the exclusive lock of the store, so no server can have the store
      // open. Statements have no time limit, because one may read a whole table.
      let settings = PostgreSQLConnection.Settings(statementTimeout: 0, serving: .alone)
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      return (connection, nil)
    }
  }

  private static func name(
    of location: StoreLocation, _ connection: any SQLConnection
  ) throws -> String {
    switch location {
    case .memory: return "memory"
    case .file(let path): return URL(fileURLWithPath: path).standardizedFileURL.path
    case .postgreSQL(let address, _):
      let schema = try connection.first("SELECT current_schema()::text", []) {
        $0.isNull(0) ? nil : $0.text(0)
      }
      guard let schema, let schema else {
        throw StoreError(.cannotOpen, "\(address) has no schema in which tables can be created")
      }
      return "\(address) (schema \(schema))"
    }
  }

  private static func checkSchemaVersion(of connection: any SQLConnection, _ name: String) throws {
    // An error means that the table of the schema version is missing, so there is no store.
    let version = try? Migration.version(over: connection)
    guard let version else {
      throw StoreError(.cannotOpen, "'\(name)' is not a Petrel store")
    }
    guard version != Migration.unfinishedVersion else {
      throw StoreError(
        .cannotOpen, "the migration of a store to '\(name)' is not complete")
    }
    try Schema.checkIsKnown(version, at: "'\(name)'")
    guard version == Schema.newestVersion else {
      throw StoreError(
        .cannotOpen,
        "the store at '\(name)' has schema version \(version), written by an older Petrel; this one has schema version "
          + "\(Schema.newestVersion). Start this program's server once with the store to migrate it, "
          + "and stop the server again")
    }
  }
}
