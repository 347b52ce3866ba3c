import Foundation
import SQLEngine
import StoreModel

/// The checks and preparations before a store is opened, and the parts of which it is assembled.
///
/// `SQLStore` creates one, takes the parts from it in order, and drops it when the threads have
/// started.
struct StoreOpening {
  /// The place of the store.
  let location: StoreLocation
  /// The configuration of the store to open.
  let configuration: StoreConfiguration
  /// The lock of the only server that has the store's file open; nil for a tool, and for other
  /// locations.
  let lock: ServerLock?
  /// The record of damage to the files; nil for a store in memory.
  let damage: StoreDamage?
  /// The part of the file that remains to be checked while the store is served.
  let inspection: StoreInspection?

  /// Locks the store's file for a server, and checks the file.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if another server has it open,
  ///   ``StoreError/Code/corrupt`` if it is damaged.
  init(of location: StoreLocation, by configuration: StoreConfiguration) throws {
    self.location = location
    self.configuration = configuration
    let isServer = configuration.role == .server
    lock =
      if let path = location.file, isServer { try ServerLock(forStoreAt: path) } else { nil }
    damage = location == .memory ? nil : StoreDamage()
    inspection =
      if let path = location.file, FileManager.default.fileExists(atPath: path),
        // Opening an unused store would truncate its log where it is damaged.
        isServer || !SQLStore.isServed(at: path)
      {
        try Self.inspect(path, forServing: isServer, by: configuration)
      } else {
        nil
      }
  }

  /// Checks the file's pages against their checksums. The check ends after `inspectionSeconds` for
  /// a server, and at once for a tool.
  ///
  /// - Returns: the part that remains to be checked; nil if there is none, and for a tool.
  /// - Throws: ``StoreError/Code/corrupt`` if a page is damaged.
  private static func inspect(
    _ path: String, forServing isServer: Bool, by configuration: StoreConfiguration
  ) throws -> StoreInspection? {
    let inspection = try StoreInspection(
      ofStoreAt: path,
      within: .seconds(isServer ? configuration.tuning.inspectionSeconds : 0))
    try inspection.check()
    return inspection.isComplete || !isServer ? nil : inspection
  }

  /// Whether other servers may serve the store beside this one.
  var isSharedServer: Bool { location.isShared && configuration.role == .server }

  /// The number of writing threads: several for a server on PostgreSQL, otherwise 1.
  var writerCount: Int { isSharedServer ? max(1, configuration.writers) : 1 }

  /// Whether the store has reading threads. A store in memory has only the writer's connection.
  var hasReaders: Bool { location != .memory && configuration.readers > 0 }

  // MARK: Connections

  /// Opens a connection with the store's settings.
  ///
  /// - Parameters:
  ///   - isReader: whether the connection only reads.
  ///   - locksRows: whether other connections may have to wait for its transactions.
  func connect(isReader: Bool = false, locksRows: Bool = true) throws -> any SQLConnection {
    try location.connect(
      configuration.tuning, damage: damage, locksRows: locksRows,
      serves: !isReader && configuration.role == .server,
      // A tool's copying would only interfere with the server's own.
      checkpointPages: configuration.role == .tool ? configuration.tuning.logPages : nil)
  }

  /// Opens the connection over which the store is migrated; the first writer takes it later.
  ///
  /// It also renews the log of a file that no server uses. On PostgreSQL it checks and notes the
  /// store's location (``ServedLocation``).
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` for a store that came from a copy;
  ///   ``StoreError/Code/newerSchema`` or ``StoreError/Code/olderSchema`` for a schema that this
  ///   program cannot migrate.
  func firstConnection(applying migrations: [Migration]) throws -> any SQLConnection {
    let first = try connect()
    // If a server is running, it has already renewed the log.
    if let path = location.file, lock != nil || !SQLStore.isServed(at: path) {
      try first.renewLog()
    }
    if first.isShared { try ServedLocation.check(first) }
    try Migration.apply(migrations, to: first)
    if isSharedServer { try ServedLocation.note(first) }
    // A failure is reported and ignored: the store works without statistics, only slower.
    first.analyzeUnknownTables(
      besides: ["notification_runs"], configuration.onUnknownTable)
    return first
  }

  // MARK: Parts

  /// Returns the store of the assets' bytes: a folder, or the memory if the location names none.
  func assetFiles() throws -> any AssetStore {
    guard let directory = location.assets else { return MemoryAssetStore() }
    return try FileAssetStore(
      directory: directory,
      use: configuration.role == .tool ? .tool : location.isShared ? .shared : .alone)
  }

  /// Returns the constants of the store's transactions. It reads the key of clients' tokens from
  /// the store.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if the store has no such key.
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

  /// Returns the entries that an earlier process left unfiled in the notification log's index; nil
  /// if all entries are filed at once.
  func tail(over connection: any SQLConnection) throws -> NotificationTail? {
    guard configuration.role == .server, !location.isShared else { return nil }
    return try NotificationIndexTable.recoverTail(
      over: connection, capacity: configuration.tuning.unfiledNotifications)
  }

  /// Returns the part that copies the log into the file; nil unless this is the server of a file.
  /// Otherwise commits copy the log.
  func checkpointer() -> Checkpointer? {
    guard lock != nil else { return nil }
    return Checkpointer(
      CheckpointSchedule(
        start: configuration.tuning.checkpointPages, limit: configuration.tuning.logPages))
  }

  /// Returns the queues of reads and writes. A store without readers has one queue for both.
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

  /// Returns the service of cluster membership; nil unless the store is on PostgreSQL.
  func cluster(
    over connection: any SQLConnection, _ context: StoreContext, threads: ThreadGroup
  ) throws -> ClusterService? {
    guard let identity = context.identity, let address = location.address else { return nil }
    return try ClusterService(
      at: address, over: connection, identity: identity, threads: threads)
  }
}
