import Foundation
import SQLEngine
import Storage
import StoreModel

/// Copies of a store: its database and the files of its assets, as they were at one moment.
///
/// A copy is laid out as a data directory, so that it can also be looked at in place.
public enum StoreBackup {
  /// How far a copy is.
  public struct Progress: Sendable, Hashable {
    public var copiedPages = 0
    public var pages = 0
    public var copiedAssets = 0
    public var assets = 0

    public init() {}
  }

  /// What the database's file is called.
  public static let fileName = "petrel.sqlite"
  /// Pages that are copied at once.
  private static let step = 1_024
  /// How far the numbers of a restored database are ahead of those of its copy: more than there may
  /// have been drawn since by the store that was lost, so that none of them is used again.
  static let numberGap: Int64 = 1 << 26

  /// Copies a store into a directory that is made for it, beside a server that may use the store. All
  /// that was acknowledged before is in the copy.
  ///
  /// - Parameters:
  ///   - path: the store's file.
  ///   - directory: must not be there, or be empty.
  ///   - progress: is called now and then, on a thread of its own.
  /// - Throws: ``StoreError``; no directory is left then.
  public static func make(
    ofStoreAt path: String, in directory: String,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws {
    let (path, directory) = (absolute(path), absolute(directory))
    try await onThread {
      guard FileManager.default.fileExists(atPath: path) else {
        throw StoreError(.cannotOpen, "there is no store at '\(path)'")
      }
      try checkIsFree(directory)
      if !SQLStore.isServed(at: path) {
        // To open it would cut its log off where that is damaged.
        try StoreInspection(ofStoreAt: path, within: .zero).check()
      }
      let partial = directory + ".partial"
      // What is not there need not go; what stays shows when the folder is made.
      try? FileManager.default.removeItem(atPath: partial)
      do {
        try AssetFiles.makeFolder(partial)
        let source = try connection(to: path)
        try copy(source, of: path, to: partial + "/" + fileName, progress)
        source.close()
        try check(partial + "/" + fileName)
        try AssetFiles.sync(partial)
        rmdir(directory)
        try AssetFiles.move(partial, to: directory)
        try AssetFiles.sync(AssetFiles.folder(of: directory))
      } catch {
        // What is not there need not go; what stays shows when the folder is made.
        try? FileManager.default.removeItem(atPath: partial)
        throw error
      }
    }
  }

  /// Makes a store of a copy, in a place where there is none.
  ///
  /// What the lost store did after the copy is unknown to clients' change feeds too: their tokens
  /// expire, and they start anew.
  ///
  /// - Throws: ``StoreError/Code/exists`` when there is a store already,
  ///   ``StoreError/Code/newerSchema`` when a newer Petrel made the copy, and others. What is in the
  ///   place of the store is as before then.
  public static func restore(
    from directory: String, toStoreAt path: String,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws {
    let (path, directory) = (absolute(path), absolute(directory))
    try await onThread {
      let copyPath = directory + "/" + fileName
      guard FileManager.default.fileExists(atPath: copyPath) else {
        throw StoreError(.cannotOpen, "there is no backup in '\(directory)': it has no \(fileName)")
      }
      try AssetFiles.makeFolder(AssetFiles.folder(of: path))
      let lock = try ServerLock(forStoreAt: path)
      defer { withExtendedLifetime(lock) {} }
      for file in [path, path + "-wal", path + "-assets"] where isThere(file) {
        throw StoreError(
          .exists, "'\(file)' is there already; move it away first, for nothing is overwritten")
      }
      let partial = path + ".restoring"
      defer {
        for file in [partial, partial + "-wal", partial + "-shm", partial + "-assets"] {
          // What is not there need not go.
          try? FileManager.default.removeItem(atPath: file)
        }
      }
      for file in [partial, partial + "-assets"] {
        // What is not there need not go.
        try? FileManager.default.removeItem(atPath: file)
      }
      try StoreInspection(ofStoreAt: copyPath, within: .zero).check()
      let source = try connection(to: copyPath)
      try copy(source, of: copyPath, to: partial, progress)
      source.close()
      let restored = try connection(to: partial)
      try expireTokens(restored)
      restored.close()
      try check(partial)
      if isThere(partial + "-assets") {
        rmdir(path + "-assets/arrivals")
        rmdir(path + "-assets")
        try AssetFiles.move(partial + "-assets", to: path + "-assets")
      }
      try AssetFiles.move(partial, to: path)
      try AssetFiles.sync(AssetFiles.folder(of: path))
    }
  }

  /// The schema version of a store, which its migrations have led to; nil when it is no store, or not yet.
  static func schemaVersion(of connection: SQLiteConnection) -> Int64? {
    let version = try? Migration.version(over: connection)
    return version == Migration.unfinishedVersion ? nil : version
  }

  // MARK: Copying

  private static func copy(
    _ source: SQLiteConnection, of path: String, to target: String,
    _ report: (Progress) -> Void
  ) throws {
    try checkForm(source, path)
    // One state of the store, however long it takes.
    try source.beginReading()
    var progress = Progress()
    let assets = try assets(of: source)
    progress.assets = assets.count
    let links = try AssetLinkFolder(besideAssetsOf: path)
    for asset in assets { try links.add(asset.name) }
    try source.copy(to: target, pagesAtOnce: step) { copied, pages in
      progress.copiedPages = copied
      progress.pages = pages
      report(progress)
    }
    try source.commit()
    try AssetFiles.sync(target)
    for asset in assets {
      try links.copy(asset.name, checksum: asset.checksum, to: target + "-assets")
      progress.copiedAssets += 1
      if progress.copiedAssets % 100 == 0 { report(progress) }
    }
    report(progress)
  }

  /// The files of assets, below their folder, with the checksums and the sizes that they should have.
  static func assets(
    of source: SQLiteConnection
  ) throws -> [(database: Int64, name: String, checksum: String, size: Int64)] {
    // Older schema versions have no assets.
    let has = try source.first(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'assets'", []
    ) { _ in true }
    guard has != nil else { return [] }
    return try source.rows("SELECT database_id, file, checksum, size FROM assets", []) {
      (
        database: $0.integer(0), name: "\($0.integer(0))/\($0.text(1).prefix(2))/\($0.text(1))",
        checksum: $0.text(2),
        size: $0.integer(3)
      )
    }
  }

  private static func checkForm(_ connection: SQLiteConnection, _ path: String) throws {
    guard let version = schemaVersion(of: connection) else {
      throw StoreError(.cannotOpen, "'\(path)' is no store of Petrel")
    }
    try Schema.checkIsKnown(version, at: "'\(path)'")
  }

  /// Reads every page of a copy.
  private static func check(_ path: String) throws {
    try StoreInspection(ofStoreAt: path, within: .seconds(365 * 86_400)).check()
    let copy = try connection(to: path)
    defer { copy.close() }
    let verdict = try copy.first("PRAGMA quick_check(1)", []) { $0.text(0) } ?? "nothing"
    guard verdict == "ok" else {
      throw StoreError(.corrupt, "the copy '\(path)' is damaged: \(verdict)")
    }
  }

  private static func expireTokens(_ connection: SQLiteConnection) throws {
    try connection.beginWriting()
    try connection.run(
      "UPDATE databases SET last_number = last_number + $1", [.integer(numberGap)])
    try connection.run("UPDATE databases SET trimmed_version = last_number", [])
    // Feeds of a database go from version to version, so no two zones may have the same.
    try connection.run(
      """
      WITH ranked AS (
        SELECT zones.database_id, zone_number, last_number + 1 - ROW_NUMBER() OVER (
          PARTITION BY zones.database_id ORDER BY zones.version DESC, zone_number) AS version
        FROM zones JOIN databases ON databases.database_id = zones.database_id)
      UPDATE zones SET version = ranked.version, trimmed_version = ranked.version
      FROM ranked
      WHERE zones.database_id = ranked.database_id AND zones.zone_number = ranked.zone_number
      """, [])
    try connection.commit()
  }

  // MARK: Files

  private static func connection(to path: String) throws -> SQLiteConnection {
    try SQLiteConnection(
      path: path, settings: SQLiteConnection.Settings(cacheKilobytes: 16_384))
  }

  private static func isThere(_ path: String) -> Bool {
    guard path.hasSuffix("-assets") else { return FileManager.default.fileExists(atPath: path) }
    // Without the folder nothing is there.
    let contents = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return contents.contains { $0 != "arrivals" }
  }

  private static func checkIsFree(_ directory: String) throws {
    guard FileManager.default.fileExists(atPath: directory) else { return }
    // A folder that cannot be read is not free.
    let contents = try? FileManager.default.contentsOfDirectory(atPath: directory)
    guard let contents, contents.isEmpty else {
      throw StoreError(
        .exists, "'\(directory)' is there already; a backup needs a directory of its own")
    }
  }

  /// With a folder that it lies in, and no slash at its end.
  private static func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }

  private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread { continuation.resume(with: Result { try body() }) }
      thread.start()
    }
  }
}
