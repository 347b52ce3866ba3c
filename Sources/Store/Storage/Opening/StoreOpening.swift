import Foundation
import SQLEngine
import StoreModel

/// The checks before a store is opened, and the creation of the store's parts.
struct StoreOpening {
  let location: StoreLocation
  let configuration: StoreConfiguration
  /// nil for a tool, and for a store that is not in a file.
  let lock: ServerLock?
  let damage: StoreDamage?
  let outage = PostgreSQLOutage()
  let inspection: StoreInspection?

  /// - Throws: ``StoreError/Code/cannotOpen`` if another server has the file open, or the file or
  ///   its log was removed; ``StoreError/Code/corrupt`` if the file is damaged.
  init(of location: StoreLocation, by configuration: StoreConfiguration) throws {
    self.location = location
    self.configuration = configuration
    let isServer = configuration.role == .server
    lock =
      if let path = location.file, isServer { try ServerLock(forStoreAt: path) } else { nil }
    if let path = location.file { try Self.checkIsNotLost(path) }
    damage = location == .memory ? nil : StoreDamage()
    inspection =
      if let path = location.file, FileManager.default.fileExists(atPath: path),
        // A file that no server uses is checked also for a tool: opening it would cut off the log
        // at the first damaged place.
        isServer || !Store.isServed(at: path)
      {
        try Self.inspect(path, forServing: isServer, by: configuration)
      } else {
        nil
      }
  }

  /// - Throws: ``StoreError/Code/cannotOpen`` if the store's file is missing or empty, and the
  ///   folder of its assets has files.
  private static func checkIsNotLost(_ path: String) throws {
    let size = AssetFiles.size(of: path)
    guard size ?? 0 == 0, !Store.hasLog(at: path),
      AssetFiles.hasFiles(inFolderAt: path + "-assets")
    else { return }
    throw StoreError(
      .cannotOpen,
      "the store '\(path)' is \(size == nil ? "missing" : "empty"), but the files of its assets "
        + "are in '\(path)-assets'. Put the store back, or restore a backup. To begin with an empty "
        + "store, move that folder away")
  }

  /// For a tool, only the log is checked. Returns the check of the remaining pages.
  private static func inspect(
    _ path: String, forServing isServer: Bool, by configuration: StoreConfiguration
  ) throws -> StoreInspection? {
    let inspection = try StoreInspection(
      ofStoreAt: path,
      within: .seconds(isServer ? configuration.tuning.inspectionSeconds : 0))
    try inspection.check()
    try SQLiteConnection.checkLog(ofFileAt: path)
    return inspection.isComplete || !isServer ? nil : inspection
  }

  /// A server on PostgreSQL: others may serve the store, too.
  var isSharedServer: Bool { location.isShared && configuration.role == .server }

  var writerCount: Int { isSharedServer ? max(1, configuration.writers) : 1 }

  var hasReaders: Bool { location != .memory && configuration.readers > 0 }

  // MARK: Connections

  /// - Parameter locksRows: whether other connections may have to wait for the transactions.
  func connect(isReader: Bool = false, locksRows: Bool = true) throws -> any SQLConnection {
    let connection = try location.connect(
      configuration.tuning, damage: damage, outage: outage, locksRows: locksRows,
      serves: !isReader && configuration.role == .server,
      // A server's own thread copies the log. A tool copies only a very large log, so as not to
      // disturb the server.
      checkpointPages: configuration.role == .tool ? configuration.tuning.logPages : nil)
    connection.gate = StatementGate(tables: Schema.tableNames)
    return connection
  }

  /// The first writing thread uses the connection later.
  ///
  /// 1. If no other server uses the file, the log is written to the disk again: an earlier process
  ///    may have failed to sync it.
  /// 2. On PostgreSQL, the location of the tables is checked (``ServedLocation``).
  /// 3. Missing migrations are applied.
  /// 4. A server stores the location on PostgreSQL, or marks its file
  ///    (``SQLConnection/markLog()``).
  /// 5. Missing statistics of tables are collected, if the engine uses statistics.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the store is a restored copy;
  ///   ``StoreError/Code/newerSchema`` or ``StoreError/Code/olderSchema`` if this program cannot
  ///   use or migrate the schema.
  func firstConnection(applying migrations: [Migration]) throws -> any SQLConnection {
    let first = try connect()
    // If another server is running, it has already written the log again.
    if let path = location.file, lock != nil || !Store.isServed(at: path) {
      try first.renewLog()
    }
    if first.isShared { try ServedLocation.check(first) }
    try Migration.apply(migrations, to: first)
    if isSharedServer { try ServedLocation.note(first) }
    if lock != nil { try first.markLog() }
    // A failure is reported to the handler, but not thrown: without statistics, the store is only
    // slower.
    first.analyzeUnknownTables(
      besides: ["notification_runs"], configuration.onUnknownTable)
    return first
  }

  // MARK: Parts

  func assetFiles() throws -> any AssetStore {
    guard let directory = location.assets else { return MemoryAssetStore() }
    return try FileAssetStore(
      directory: directory,
      use: configuration.role == .tool ? .tool : location.isShared ? .shared : .alone)
  }

  /// - Throws: ``StoreError/Code/corrupt`` if the store has no key of clients' tokens.
  func context(
    over connection: any SQLConnection, quotas: StoreQuotas
  ) throws -> StoreContext {
    try StoreContext(
      configuration,
      tokens: try configuration.tokens ?? SecretTable.tokenCipher(connection),
      identity: location.isShared ? ServerIdentity() : nil,
      isDistributed: try StoreDistribution.complete(over: connection)
        || configuration.separatesDatabases,
      quotas: quotas)
  }

  /// The entries that a former process left. nil on PostgreSQL and for a tool.
  func tail(over connection: any SQLConnection) throws -> NotificationTail? {
    guard configuration.role == .server, !location.isShared else { return nil }
    return try NotificationIndexTable.recoverTail(
      over: connection, capacity: configuration.tuning.unfiledNotifications)
  }

  func checkpointer() -> Checkpointer? {
    guard lock != nil else { return nil }
    return Checkpointer(
      CheckpointSchedule(
        start: configuration.tuning.checkpointPages, limit: configuration.tuning.logPages))
  }

  func transactions(
    _ context: StoreContext, checkpointer: Checkpointer?, channel: ServerChannel?
  ) -> Transactions {
    let writer = StoreWriter(
      configuration: configuration, threads: writerCount, checkpointer: checkpointer,
      channel: channel, isDistributed: context.isDistributed)
    return Transactions(
      context: context, writer: writer,
      reads: hasReaders
        ? JobQueue(limit: configuration.waitingReads, role: "reads") : writer.queue)
  }

  func cluster(
    over connection: any SQLConnection, _ context: StoreContext, threads: ThreadGroup
  ) throws -> ClusterService? {
    guard let identity = context.identity, let address = location.address else { return nil }
    return try ClusterService(
      at: address, over: connection, identity: identity, threads: threads)
  }
}
