import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The durable store on an SQL engine.
///
/// One thread writes, or a few on PostgreSQL; each makes writes that wait at the same time one
/// transaction. A few threads read. Each thread has its own connection. Callers wait in continuations, never on a thread.
public final class SQLRecordStore: Store, Sendable {
  let configuration: StoreConfiguration
  public let quotas = StoreQuotas()
  /// The store's SQLite file, where it is one.
  let path: String?
  /// Whether that was found to be damaged.
  let fileDamage: StoreDamage?
  /// What PostgreSQL found of its own files. It serves what is not damaged.
  let serverDamage: StoreDamage?
  /// Beside a store in a file, in the folder with its name and `-assets`; else in memory.
  public let assets: any AssetStore
  let context: StoreContext
  let threads: ThreadGroup
  let writer: StoreWriter
  /// Where reads wait; the writer's own queue when the store has no readers.
  let reads: JobQueue
  let readTally = ReadTally()
  let tail: NotificationTail?
  let extracts: ExtractShelf
  /// Extracts that are to be made.
  let makings = JobQueue(limit: 64, role: "extracts of the index")
  /// Copies the log of a server's store in a file; elsewhere commits do so.
  let checkpointer: Checkpointer?
  let limits: StoreLimits?
  /// What the store takes where it is not in a file.
  let tableSizes: TableSizes?
  /// Nil unless several servers may have the store open.
  let cluster: ClusterService?

  public var tokens: TokenCipher { context.tokens }
  /// Makes the change tags of answers that are put together outside of a transaction.
  var changeTags: ChangeTags { context.changeTags }
  /// Whether the databases of the store are on several nodes, so that no transaction writes to two.
  var isDistributed: Bool { context.isDistributed }
  /// What servers that share the store know of each other; nil when one has it alone.
  public var servers: (any ClusterStore)? { cluster }
  /// Seconds that the store's clock is ahead of this machine's.
  public var clockOffset: Double { cluster?.clock.offset ?? 0 }
  public var sharedLimits: (any SharedLimits)? { limits }

  /// Opens the store in this file, and makes it when there is none.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` when the file cannot be opened, is no store, or (for a
  ///   server) is open in another server; ``StoreError/Code/newerSchema`` when a newer Petrel wrote it.
  public static func open(
    at path: String, configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> SQLRecordStore {
    try await open(at: .file(path: path), configuration: configuration)
  }

  /// Opens a store, and makes it when there is none.
  ///
  /// - Throws: what ``open(at:configuration:)-(String,_)`` does, and ``StoreError/Code/cannotOpen`` when
  ///   the PostgreSQL cannot be reached.
  public static func open(
    at location: StoreLocation, configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> SQLRecordStore {
    try await open(at: location, configuration: configuration, migrations: Schema.migrations)
  }

  /// Makes an empty store in memory. It is gone when it is closed.
  public static func inMemory(
    configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> SQLRecordStore {
    try await open(at: .memory, configuration: configuration)
  }

  static func open(
    path: String?, configuration: StoreConfiguration, migrations: [Migration]
  ) async throws -> SQLRecordStore {
    try await open(
      at: path.map { .file(path: $0) } ?? .memory, configuration: configuration,
      migrations: migrations)
  }

  static func open(
    at location: StoreLocation, configuration: StoreConfiguration, migrations: [Migration]
  ) async throws -> SQLRecordStore {
    try await onThread {
      try SQLRecordStore(at: location, configuration: configuration, migrations: migrations)
    }
  }

  /// Does what blocks on a thread of its own.
  package static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread { continuation.resume(with: Result { try body() }) }
      thread.start()
    }
  }

  private init(
    at location: StoreLocation, configuration: StoreConfiguration, migrations: [Migration]
  ) throws {
    let opening = try StoreOpening(of: location, by: configuration)
    // The folder of the assets is beside the store: what makes it makes the store's folder too.
    assets = try opening.assets()
    let first = try opening.firstConnection(applying: migrations)
    self.configuration = configuration
    path = location.file
    fileDamage = path == nil ? nil : opening.damage
    serverDamage = path == nil ? opening.damage : nil
    context = try opening.context(over: first, quotas: quotas)
    threads = ThreadGroup(keeping: opening.lock)
    tail = try opening.tail(over: first)
    // Extracts follow the writer of this process alone.
    extracts = ExtractShelf(limit: location.isShared ? 0 : configuration.tuning.extractBytes)
    checkpointer = opening.checkpointer()
    limits = opening.isSharedServer ? StoreLimits(waiting: configuration.waitingReads) : nil
    tableSizes = location.isShared ? TableSizes() : nil
    cluster = try opening.cluster(over: first, context, threads: threads)
    writer = StoreWriter(
      configuration: configuration, threads: opening.writerCount, checkpointer: checkpointer,
      channel: cluster?.channel, isDistributed: context.isDistributed)
    reads =
      opening.hasReaders
      ? JobQueue(limit: configuration.waitingReads, role: "reads") : writer.queue
    try bindAssets(over: first)
    try startThreads(opening, first: first)
  }

  deinit {
    closeQueues()
  }

  private func closeQueues() {
    writer.queue.close()
    reads.close()
    makings.close()
    cluster?.close()
    limits?.queue.close()
    checkpointer?.close()
  }

  /// What searches have in memory of the value index.
  public var extractCounts: ExtractCounts { extracts.counts }

  /// Entries of the notification log in memory that wait to be filed in its index; see
  /// ``StoreConfiguration/Tuning/unfiledNotifications``.
  public var unfiledNotificationCount: Int { tail?.count ?? 0 }

  /// Whether a server has the store in this file open.
  public static func isServed(at path: String) -> Bool {
    ServerLock.isHeld(forStoreAt: path)
  }

  /// Whether nobody uses the store in this file, and no log beside it has more than is in it.
  package static func isUnused(at path: String) -> Bool {
    // Where there is no log, its size cannot be read.
    let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
    return (log?[.size] as? Int ?? 0) == 0 && !isServed(at: path)
  }

  /// Whether a server has the store open.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` when the PostgreSQL cannot be reached.
  public static func isServed(at location: StoreLocation) async throws -> Bool {
    switch location {
    case .memory: return false
    case .file(let path): return isServed(at: path)
    case .postgreSQL(let address, _):
      return try await onThread {
        let connection = try PostgreSQLConnection(to: address)
        defer { connection.close() }
        return try PostgreSQLSession.isServed(over: connection)
      }
    }
  }

  public var damage: String? { fileDamage?.reason }

  public func setDamageHandler(_ handler: (@Sendable (String) -> Void)?) {
    (fileDamage ?? serverDamage)?.setHandler(handler)
  }

  public func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?) {
    fileDamage?.setUnsyncedHandler(handler)
  }

  public func setDoubtHandler(_ handler: (@Sendable () -> Void)?) {
    writer.setDoubtHandler(handler)
  }

  public func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?) {
    writer.setCommitHandler(handler)
  }

  public func close() async {
    closeQueues()
    await threads.ended()
  }

  /// Runs `body` on a writer's thread, and returns when what it wrote is durable.
  ///
  /// - Parameters:
  ///   - locks: what it has for itself, on a store that others write to as well.
  ///   - gathersWrites: See ``StoreJob/gathersWrites``.
  func write<Value: Sendable>(
    locking locks: WriteLocks = .everything, gathersWrites: Bool = false,
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(continuation, locks: locks, gathersWrites: gathersWrites, body))
    }
  }

  /// Runs `body` on a reader's thread.
  ///
  /// - Throws: `CancellationError` when the read was given up; see ``AbandonableReads``.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    // Where the writer's thread reads too, a read is part of a transaction with others.
    guard AbandonableReads.areOn, reads !== writer.queue else {
      return try await withCheckedThrowingContinuation { continuation in
        reads.add(ContinuationJob(continuation, body))
      }
    }
    let cancellation = ReadCancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        reads.add(ContinuationJob(continuation, cancellation: cancellation, body))
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}
