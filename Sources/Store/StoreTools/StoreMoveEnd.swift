import Foundation
import SQLEngine
import Storage
import StoreModel

/// One of the two stores of a move, the source or the target, which no other program has open.
///
/// A file is locked by a ``ServerLock``, PostgreSQL by the exclusive advisory lock of the
/// connection. Both locks end with the object.
final class StoreMoveEnd {
  /// The place of the store.
  let location: StoreLocation
  /// The only connection to the store.
  let connection: any SQLConnection
  /// The lock of a store in a file; nil for PostgreSQL.
  private let lock: ServerLock?

  /// The store's name for people, by which a continued move recognises it.
  let name: String

  /// Opens the store to be moved.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no store, if it has an older version, or
  ///   if a program has it open; ``StoreError/Code/newerSchema`` for a newer version.
  init(source location: StoreLocation) throws {
    self.location = location
    if let path = location.file {
      guard FileManager.default.fileExists(atPath: path) else {
        throw StoreError(.cannotOpen, "there is no store at '\(path)'")
      }
    }
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

  /// Opens the target of the move, which may be empty or have an unfinished move.
  ///
  /// - Throws: ``StoreError/Code/exists`` if the target is a new file beside which there are assets
  ///   of another store, ``StoreError/Code/cannotOpen`` if a program has the target open.
  init(target location: StoreLocation, of source: StoreMoveEnd) throws {
    self.location = location
    var isNew = false
    if let path = location.file {
      isNew = !FileManager.default.fileExists(atPath: path)
      let folder = AssetFiles.folder(of: path)
      if !folder.isEmpty { try AssetFiles.makeFolder(folder) }
    }
    if isNew, let assets = location.assets, assets != source.location.assets,
      Self.hasAssets(in: assets)
    {
      throw StoreError(
        .exists, "'\(assets)' has files of another store; move it away first, or name another place"
      )
    }
    (connection, lock) = try Self.open(location, cacheKilobytes: 32_768)
    name = try Self.name(of: location, connection)
  }

  /// Opens a store and takes its lock.
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
      let connection = try location.connect(
        tuning, locksRows: true, serves: true,
        checkpointPages: tuning.checkpointPages)
      return (connection, lock)
    case .postgreSQL(let address, _):
      // Takes the exclusive lock, so that no server can have the store open. There is no time
      // limit, since a statement may read a whole table.
      let settings = PostgreSQLConnection.Settings(statementTimeout: 0, serving: .alone)
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      return (connection, nil)
    }
  }

  /// Returns the store's name for people: a path, or an address and a schema.
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

  /// Checks that there is a store of exactly the version of this program.
  private static func checkSchemaVersion(of connection: any SQLConnection, _ name: String) throws {
    // A failure is ignored: without the table there is no store.
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

  /// Whether a folder has files of assets.
  private static func hasAssets(in folder: String) -> Bool {
    // A failure is ignored: without the folder there are no assets.
    let contents = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return contents.contains { $0 != "arrivals" }
  }
}
