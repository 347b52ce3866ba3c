import Foundation
import SQLEngine
import Storage
import StoreModel

/// The backup of a store in a file: its database and asset files at one moment. A copy has the
/// layout of a server's data directory.
public enum StoreBackup {
  /// The progress of a copy.
  public struct Progress: Sendable, Hashable {
    /// The copied pages of 4 KiB.
    public var copiedPages = 0
    /// 0 before the first pages are copied.
    public var pages = 0
    /// The number of asset files copied so far.
    public var copiedAssets = 0
    /// The number of asset files to copy.
    public var assets = 0

    /// The progress before the first step.
    public init() {}
  }

  /// The name of the database file in a copy.
  public static let fileName = "petrel.sqlite"
  private static let step = 1_024
  /// The gap in the numbers of a restored database: more than the lost store can have used since
  /// the copy.
  static let numberGap: Int64 = 1 << 26

  /// Copies a store into a new directory, with all changes that were acknowledged before the call.
  /// A server may use the store meanwhile.
  ///
  /// The copy is written to a directory with the suffix `.partial`, checked page by page, synced,
  /// and then renamed.
  ///
  /// - Parameter progress: called from time to time, on the thread that copies.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no store; ``StoreError/Code/newerSchema``
  ///   or ``StoreError/Code/olderSchema`` if this program does not know its schema version;
  ///   ``StoreError/Code/exists`` if the directory has contents; ``StoreError/Code/corrupt`` if the
  ///   store is damaged; and other errors if the copy cannot be written. After an error before the
  ///   renaming, there is no copy, and the partial copy is removed.
  public static func make(
    ofStoreAt path: String, in directory: String,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws {
    let (path, directory) = (absolute(path), absolute(directory))
    try await Store.onThread {
      try checkIsThere(path)
      try checkIsFree(directory)
      if !Store.isServed(at: path) {
        // The connection below would truncate the log of a damaged store at the damage.
        try StoreInspection(ofStoreAt: path, within: .zero).check()
        try SQLiteConnection.checkLog(ofFileAt: path)
      }
      let partial = directory + ".partial"
      // A failure is ignored: a missing folder is fine, and a remaining one makes the next call
      // fail.
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
        // A failure is ignored: a missing folder is fine, and a remaining one makes the next call
        // fail.
        try? FileManager.default.removeItem(atPath: partial)
        throw error
      }
    }
  }

  /// Restores a store from a copy, at a place where there is no store.
  ///
  /// Clients may have newer change tokens than the copy, so all expire, and clients fetch all data
  /// again. Files have the suffix `.restoring` until the end.
  ///
  /// - Parameter directory: a directory that ``make(ofStoreAt:in:progress:)`` wrote.
  /// - Throws: ``StoreError/Code/cannotOpen`` if `directory` is not a copy, or a program has the
  ///   store at `path` open; ``StoreError/Code/exists`` if there is a store or asset files at
  ///   `path`; ``StoreError/Code/newerSchema`` or ``StoreError/Code/olderSchema`` if this program
  ///   does not know the copy's schema version; ``StoreError/Code/corrupt`` if the copy is damaged;
  ///   and others. After an error before the renaming, there is no new store.
  public static func restore(
    from directory: String, toStoreAt path: String,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws {
    let (path, directory) = (absolute(path), absolute(directory))
    try await Store.onThread {
      let copyPath = directory + "/" + fileName
      guard FileManager.default.fileExists(atPath: copyPath) else {
        throw StoreError(.cannotOpen, "'\(directory)' is not a backup: it has no \(fileName)")
      }
      try AssetFiles.makeFolder(AssetFiles.folder(of: path))
      let lock = try ServerLock(forStoreAt: path)
      defer { withExtendedLifetime(lock) {} }
      for file in [path, path + "-wal", path + "-assets"] where isThere(file) {
        throw StoreError(
          .exists, "'\(file)' already exists; move it away first, because nothing is overwritten")
      }
      let partial = path + ".restoring"
      defer {
        for file in [partial, partial + "-wal", partial + "-shm", partial + "-assets"] {
          // A failure is ignored: the file may be missing.
          try? FileManager.default.removeItem(atPath: file)
        }
      }
      for file in [partial, partial + "-assets"] {
        // A failure is ignored: the file may be missing.
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

  /// Prepares a store whose write-ahead log is lost, so that a server can open it. Clients may
  /// know changes of the log, so change tokens expire, and each database gets a gap in its
  /// numbers.
  ///
  /// - Parameter nothingLost: whether the file has every acknowledged change. If so, numbers and
  ///   change tokens stay.
  /// - Returns: the number of databases.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no store, or a program has it open;
  ///   ``StoreError/Code/newerSchema`` or ``StoreError/Code/olderSchema`` if this program does not
  ///   know the store's schema version; ``StoreError/Code/corrupt`` if the store is damaged.
  @discardableResult
  public static func completeRestoration(
    ofStoreAt path: String, nothingLost: Bool = false
  ) async throws -> Int {
    let path = absolute(path)
    return try await Store.onThread {
      try checkIsThere(path)
      let lock = try ServerLock(forStoreAt: path)
      defer { withExtendedLifetime(lock) {} }
      try StoreInspection(ofStoreAt: path, within: .zero).check()
      let store = try connection(to: path)
      defer { store.close() }
      try checkSchemaVersion(store, path)
      if !nothingLost { try expireTokens(store) }
      try store.settleLog()
      return Int(try store.integer("SELECT COUNT(*) FROM databases", []) ?? 0)
    }
  }

  /// Returns nil if the file is not a store, or its creation or move is not complete.
  static func schemaVersion(of connection: any SQLConnection) -> Int64? {
    // An error means that the table of the schema version is missing, so there is no store.
    let version = try? Migration.version(over: connection)
    return version == Migration.unfinishedVersion ? nil : version
  }

  // MARK: Copying

  /// Copies the database in one read transaction, then the asset files of that moment. Hard links,
  /// made before, keep these files if the server deletes assets.
  private static func copy(
    _ source: SQLiteConnection, of path: String, to target: String,
    _ report: (Progress) -> Void
  ) throws {
    try checkSchemaVersion(source, path)
    // The transaction gives one snapshot of the store for the whole copy.
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
    // A copy needs no log.
    let copy = try connection(to: target)
    try copy.settleLog()
    copy.close()
    try AssetFiles.sync(target)
    for asset in assets {
      try links.copy(asset.name, checksum: asset.checksum, to: target + "-assets")
      progress.copiedAssets += 1
      if progress.copiedAssets % 100 == 0 { report(progress) }
    }
    report(progress)
  }

  /// The asset files of a database: paths in the asset folder, SHA-256 in hexadecimal digits, and
  /// the bytes that each should have.
  static func assets(
    of source: SQLiteConnection
  ) throws -> [(database: Int64, name: String, checksum: String, size: Int64)] {
    // Older schema versions have no assets.
    guard try SQLTable.names(source).contains("assets") else { return [] }
    return try source.rows("SELECT database_id, file, checksum, size FROM assets", []) {
      (
        database: $0.integer(0), name: "\($0.integer(0))/\($0.text(1).prefix(2))/\($0.text(1))",
        checksum: $0.text(2),
        size: $0.integer(3)
      )
    }
  }

  static func checkSchemaVersion(
    of connection: any SQLConnection, at place: String, otherwise reason: String
  ) throws {
    guard let version = schemaVersion(of: connection) else { throw StoreError(.cannotOpen, reason) }
    try Schema.checkIsKnown(version, at: place)
  }

  private static func checkSchemaVersion(_ connection: SQLiteConnection, _ path: String) throws {
    try checkSchemaVersion(
      of: connection, at: "'\(path)'", otherwise: "'\(path)' is not a Petrel store")
  }

  private static func check(_ path: String) throws {
    try StoreInspection(ofStoreAt: path, within: .seconds(365 * 86_400)).check()
    let copy = try connection(to: path)
    defer { copy.close() }
    let verdict = try copy.text("PRAGMA quick_check(1)", []) ?? "nothing"
    guard verdict == "ok" else {
      throw StoreError(.corrupt, "the copy '\(path)' is damaged: \(verdict)")
    }
  }

  private static func expireTokens(_ connection: SQLiteConnection) throws {
    try connection.beginWriting()
    for database in try connection.integers("SELECT database_id FROM databases", []) {
      try expireTokens(of: database, over: connection)
    }
    try connection.commit()
  }

  // MARK: Files

  private static func connection(to path: String) throws -> SQLiteConnection {
    try SQLiteConnection(
      path: path, settings: SQLiteConnection.Settings(cacheKilobytes: 16_384))
  }

  static func checkIsThere(_ path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else {
      throw StoreError(.cannotOpen, "there is no store at '\(path)'")
    }
  }

  private static func isThere(_ path: String) -> Bool {
    path.hasSuffix("-assets")
      ? hasAssets(in: path) : FileManager.default.fileExists(atPath: path)
  }

  /// The folder for arriving uploads does not count.
  static func hasAssets(in folder: String) -> Bool {
    // A folder that is missing or cannot be read counts as empty.
    let contents = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return contents.contains { $0 != "arrivals" }
  }

  /// - Throws: ``StoreError/Code/exists`` unless the directory is missing or empty.
  private static func checkIsFree(_ directory: String) throws {
    guard FileManager.default.fileExists(atPath: directory) else { return }
    // A directory that cannot be read counts as not empty.
    let contents = try? FileManager.default.contentsOfDirectory(atPath: directory)
    guard let contents, contents.isEmpty else {
      throw StoreError(
        .exists, "'\(directory)' already exists; a backup needs a new directory")
    }
  }

  private static func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }
}
