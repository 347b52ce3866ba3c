import CloudKitModel
import Foundation
import SQLEngine
import StoreModel
import Synchronization

/// The durable store on an SQL engine.
///
/// One thread writes, or a few on PostgreSQL; each makes writes that wait at the same time one
/// transaction. A few threads read. Each thread has its own connection. Callers wait in continuations, never on a thread.
public final class SQLRecordStore: Store {
  let writer: StoreWriter
  public let quotas = StoreQuotas()
  /// Where reads wait; the writer's own queue when the store has no readers.
  let reads: JobQueue
  let readTally = ReadTally()
  let configuration: StoreConfiguration
  /// Beside a store in a file, in the folder with its name and `-assets`; else in memory.
  public let assets: any AssetStore
  public let tokens: TokenCipher
  /// For what is told outside of a transaction.
  let changeTags: ChangeTags
  let threads: ThreadGroup
  private let extracts: ExtractShelf
  private let makings: JobQueue
  let tail: NotificationTail?
  let limits: StoreLimits?
  /// What the store takes where it is not in a file.
  let tableSizes: TableSizes?
  public var sharedLimits: (any SharedLimits)? { limits }
  /// Copies the log of a server's store in a file; elsewhere commits do so.
  let checkpointer: Checkpointer?
  /// Where what servers do for each other waits; nil unless several may have the store open.
  let presence: JobQueue?
  /// What servers give each other notice of; nil unless several may have the store open.
  let notices: ServerNotices?
  let identity: ServerIdentity?
  let storeClock: StoreClock?
  /// Whether the databases of the store are on several nodes, so that no transaction writes to two.
  let isDistributed: Bool
  /// The number of the last announcement that this process made.
  let announcementNumber = Atomic<Int64>(0)
  /// The store's SQLite file, where it is one.
  let path: String?
  /// Whether that was found to be damaged.
  let fileDamage: StoreDamage?
  /// What PostgreSQL found of its own files. It serves what is not damaged.
  let serverDamage: StoreDamage?

  /// Extracts that may wait for being made; one more has to be wanted anew.
  private static let waitingMakings = 64
  /// What servers do for each other may wait up to this number.
  private static let waitingPresence = 1_000

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
    self.configuration = configuration
    let path = location.file
    self.path = path
    let lock: ServerLock? =
      if let path, configuration.role == .server { try ServerLock(forStoreAt: path) } else { nil }
    assets =
      if let directory = location.assets {
        try FileAssetStore(
          directory: directory,
          use: configuration.role == .tool ? .tool : location.isShared ? .shared : .alone)
      } else {
        MemoryAssetStore()
      }
    let damage: StoreDamage? = location == .memory ? nil : StoreDamage()
    fileDamage = path == nil ? nil : damage
    serverDamage = path == nil ? damage : nil
    var inspection: StoreInspection?
    if let path, FileManager.default.fileExists(atPath: path) {
      let isServer = configuration.role == .server
      // To open a store that nobody has open would cut its log off where that is damaged.
      if isServer || !Self.isServed(at: path) {
        let found = try StoreInspection(
          ofStoreAt: path,
          within: .seconds(isServer ? configuration.tuning.inspectionSeconds : 0))
        try found.check()
        inspection = found.isComplete || !isServer ? nil : found
      }
    }
    // Extracts follow the writer of this process alone.
    let extracts = ExtractShelf(
      limit: location.isShared ? 0 : configuration.tuning.extractBytes)
    let makings = JobQueue(limit: Self.waitingMakings, role: "extracts of the index")
    self.extracts = extracts
    self.makings = makings
    let tuning = configuration.tuning
    // A tool would only get in the way of the server's own copying.
    let checkpointPages = configuration.role == .tool ? tuning.logPages : nil
    let identity = location.isShared ? ServerIdentity() : nil
    self.identity = identity
    storeClock = location.isShared ? StoreClock() : nil
    let connect = { @Sendable (isReader: Bool, locksRows: Bool) throws -> any SQLConnection in
      try location.connect(
        tuning, damage: damage, locksRows: locksRows,
        serves: !isReader && configuration.role == .server,
        checkpointPages: checkpointPages)
    }
    let first = try connect(false, true)
    // Beside a server, that has done it.
    if let path, configuration.role == .server || !Self.isServed(at: path) {
      try first.renewLog()
    }
    if first.isShared { try StorePlace.check(first) }
    try Migration.apply(migrations, to: first)
    if first.isShared, configuration.role == .server { try StorePlace.note(first) }
    let tokens = try configuration.tokens ?? SecretTable.tokenCipher(first)
    self.tokens = tokens
    changeTags = try tokens.makeChangeTags()
    let isDistributed =
      try StoreDistribution.complete(over: first) || configuration.separatesDatabases
    self.isDistributed = isDistributed
    // Without it the store is slower, and as good.
    first.analyzeUnknownTables(
      besides: ["notification_runs"], configuration.onUnknownTable)
    let quotas = quotas
    let makeSession = {
      @Sendable (isReader: Bool, connection: any SQLConnection) throws -> StoreTransaction in
      let transaction = try StoreTransaction(
        connection: connection, tokens: tokens, makeUUID: configuration.makeUUID)
      transaction.isDistributed = isDistributed
      transaction.identity = identity
      transaction.fixedEnvironments = configuration.fixedEnvironments
      transaction.quotas = quotas
      transaction.historyLimits = configuration.changeHistory
      transaction.steeredTime = configuration.steeredTime
      // Where others write too, nothing is cached of the index.
      if isReader, !location.isShared {
        transaction.extracts = extracts
        transaction.makeExtract = { makings.add(ExtractMaking(of: $0, for: extracts)) }
      }
      return transaction
    }
    let checkpointer: Checkpointer? =
      if path != nil, configuration.role == .server {
        Checkpointer(CheckpointSchedule(start: tuning.checkpointPages, limit: tuning.logPages))
      } else {
        nil
      }
    self.checkpointer = checkpointer
    let limits =
      location.isShared && configuration.role == .server
      ? StoreLimits(waiting: configuration.waitingReads) : nil
    self.limits = limits
    tableSizes = location.isShared ? TableSizes() : nil
    let writers =
      location.isShared && configuration.role == .server ? max(1, configuration.writers) : 1
    let presence =
      location.isShared ? JobQueue(limit: Self.waitingPresence, role: "registrations") : nil
    self.presence = presence
    let notices: ServerNotices? =
      if let presence, let identity, let address = location.address {
        try ServerNotices(at: address, over: first, queue: presence, identity: identity)
      } else {
        nil
      }
    self.notices = notices
    let writer = StoreWriter(
      configuration: configuration, threads: writers, checkpointer: checkpointer,
      notices: notices, isDistributed: isDistributed)
    let writing = try makeSession(false, first)
    if let folder = assets as? FileAssetStore, folder.use == .shared {
      try folder.bind(to: writing)
    }
    let tail: NotificationTail? =
      if configuration.role == .server, !location.isShared {
        try NotificationIndexTable(transaction: writing)
          .recoverTail(capacity: tuning.unfiledNotifications)
      } else {
        nil
      }
    writing.tail = tail
    self.tail = tail
    self.writer = writer
    threads = ThreadGroup(keeping: lock)
    if let presence {
      let presence = StorePresence(queue: presence)
      let transaction = try makeSession(true, try connect(true, true))
      try storeClock?.follow(transaction.connection)
      threads.start(named: "petrel.store.presence", with: transaction) { presence.work(in: $0) }
    }
    if location == .memory || configuration.readers < 1 {
      reads = writer.queue
    } else {
      let reader = StoreReader(
        queue: JobQueue(limit: configuration.waitingReads, role: "reads"), tally: readTally)
      reads = reader.queue
      for number in 1...configuration.readers {
        let transaction = try makeSession(true, try connect(true, false))
        transaction.tail = tail
        threads.start(named: "petrel.store.reader.\(number)", with: transaction) {
          reader.work(in: $0)
        }
      }
      if !location.isShared {
        let maker = StoreReader(queue: makings)
        threads.start(
          named: "petrel.store.extracts", with: try makeSession(true, try connect(true, false))
        ) {
          maker.work(in: $0)
        }
      }
    }
    if let checkpointer {
      threads.start(
        named: "petrel.store.checkpoints", with: try makeSession(false, try connect(false, true))
      ) {
        checkpointer.work(over: $0.connection)
      }
    }
    if let inspection, let damage {
      let queue = writer.queue
      threads.start(named: "petrel.store.inspection") {
        var inspection = inspection
        let found = try? inspection.lookAtRest(
          pausing: tuning.inspectionPause, unless: { queue.isOver || damage.reason != nil })
        if let found { damage.note("\(found): \(PageDamage.advice)") }
      }
    }
    if let limits {
      let connection = try location.connect(
        tuning, locksRows: true, serves: false, checkpointPages: nil)
      let transaction = try StoreTransaction(
        connection: connection, makeUUID: configuration.makeUUID)
      transaction.steeredTime = configuration.steeredTime
      threads.start(named: "petrel.store.limits", with: transaction) { limits.work(in: $0) }
    }
    threads.start(named: "petrel.store.writer", with: writing) { writer.work(in: $0, thread: 0) }
    for number in 1..<writers {
      threads.start(
        named: "petrel.store.writer.\(number)",
        with: try makeSession(false, try connect(false, true))
      ) { writer.work(in: $0, thread: number) }
    }
  }

  deinit {
    closeQueues()
  }

  private func closeQueues() {
    writer.queue.close()
    reads.close()
    makings.close()
    presence?.close()
    notices?.close()
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
