import Foundation
import SQLEngine
import StoreModel

/// The checks and preparations before a store is opened, and the parts of which it is assembled.
struct StoreOpening {
  let location: StoreLocation
  let configuration: StoreConfiguration
  /// The lock of the only server that has the store's file open.
  let lock: ServerLock?
  /// Records damage of the files.
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

  /// - Returns: the part that remains to be checked; nil if there is none.
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

  var writerCount: Int { isSharedServer ? max(1, configuration.writers) : 1 }

  /// A store in memory has only the writer's connection.
  var hasReaders: Bool { location != .memory && configuration.readers > 0 }

  // MARK: Connections

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

  /// The connection over which the store is migrated; the first writer takes it.
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

  func assetFiles() throws -> any AssetStore {
    guard let directory = location.assets else { return MemoryAssetStore() }
    return try FileAssetStore(
      directory: directory,
      use: configuration.role == .tool ? .tool : location.isShared ? .shared : .alone)
  }

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

  /// The entries that an earlier process left unfiled in the notification log's index; nil if all
  /// entries are filed at once.
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
