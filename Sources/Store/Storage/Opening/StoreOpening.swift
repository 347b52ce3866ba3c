import Foundation
import SQLEngine
import StoreModel

/// What has to be known, checked and done before a store is there: its parts are made of it.
struct StoreOpening {
  let location: StoreLocation
  let configuration: StoreConfiguration
  /// That this is the one server that has the store's file open.
  let lock: ServerLock?
  /// Where it is taken down that files are damaged.
  let damage: StoreDamage?
  /// What is left to be looked at of the store's file while it is served.
  let inspection: StoreInspection?

  /// Has a server lock the store's file, and looks at the file.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` when another server has it, ``StoreError/Code/corrupt`` when it is
  ///   damaged.
  init(of location: StoreLocation, by configuration: StoreConfiguration) throws {
    self.location = location
    self.configuration = configuration
    let isServer = configuration.role == .server
    lock =
      if let path = location.file, isServer { try ServerLock(forStoreAt: path) } else { nil }
    damage = location == .memory ? nil : StoreDamage()
    inspection =
      if let path = location.file, FileManager.default.fileExists(atPath: path),
        // To open a store that nobody has open would cut its log off where that is damaged.
        isServer || !SQLStore.isServed(at: path)
      {
        try Self.inspect(path, forServing: isServer, by: configuration)
      } else {
        nil
      }
  }

  /// - Returns: what is left to be looked at.
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

  /// A store in memory has no connection but the writer's.
  var hasReaders: Bool { location != .memory && configuration.readers > 0 }

  // MARK: Connections

  /// - Parameters:
  ///   - isReader: whether it only reads.
  ///   - locksRows: whether others may have to wait for its transactions.
  func connect(isReader: Bool = false, locksRows: Bool = true) throws -> any SQLConnection {
    try location.connect(
      configuration.tuning, damage: damage, locksRows: locksRows,
      serves: !isReader && configuration.role == .server,
      // A tool would only get in the way of the server's own copying.
      checkpointPages: configuration.role == .tool ? configuration.tuning.logPages : nil)
  }

  /// The connection over which the store is brought to this program's form; the first writer has it then.
  func firstConnection(applying migrations: [Migration]) throws -> any SQLConnection {
    let first = try connect()
    // Beside a server, that has done it.
    if let path = location.file, lock != nil || !SQLStore.isServed(at: path) {
      try first.renewLog()
    }
    if first.isShared { try StorePlace.check(first) }
    try Migration.apply(migrations, to: first)
    if isSharedServer { try StorePlace.note(first) }
    // Without it the store is slower, and as good.
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

  /// What an earlier process left of the notification log that is not in its index; nil where all is put
  /// there at once.
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
