import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The durable store on an SQL engine.
///
/// One thread writes, or a few on PostgreSQL; each makes writes that wait at the same time one
/// transaction. A few threads read. Each thread has its own connection. Callers wait in continuations, never
/// on a thread.
public final class SQLStore: Store, Sendable {
  public let databases: any DatabaseStore
  public let zones: any ZoneStore
  public let records: any RecordReading & RecordWriting
  public let changeFeeds: any ChangeFeedStore
  /// Their bytes are beside a store in a file, in the folder with its name and `-assets`; else in memory.
  public let assets: any AssetRegistry
  public let schemas: any SchemaStore & RoleStore
  public let subscriptions: any SubscriptionStore & SubscriptionFeed
  public let outbox: any OutboxStore
  public let devices: any DeviceStore
  public let deliveries: any DeliveryQueue
  public let notificationLog: any NotificationLogStore
  public let courier: any CourierStore
  public let changeHistory: any ChangeHistoryStore
  public let accounts: any AccountStore & SignInStore & SessionStore & DiscoveryStore
  public let credentials: any CredentialStore & SignatureStore
  public let secrets: any SecretStore
  public let userDeletion: any UserDeletionStore & UserHoldingsStore
  public let adminAccess: any AdminKeyStore & ConsoleSessionStore
  public let administration: any AdministrationStore
  public let maintenance: any Maintenance
  public let quotas = StoreQuotas()

  let configuration: StoreConfiguration
  /// The store's SQLite file, where it is one.
  let path: String?
  /// Whether that was found to be damaged.
  let fileDamage: StoreDamage?
  /// What PostgreSQL found of its own files. It serves what is not damaged.
  let serverDamage: StoreDamage?
  let context: StoreContext
  let threads: ThreadGroup
  let transactions: Transactions
  let readTally = ReadTally()
  let tail: NotificationTail?
  let searchCache: SearchCache
  /// Entries of the search cache that are to be made.
  let fills = JobQueue(limit: 64, role: "entries of the search cache")
  /// Copies the log of a server's store in a file; elsewhere commits do so.
  let checkpointer: Checkpointer?
  let limits: StoreLimits?
  /// What the store takes where it is not in a file.
  let tableSizes: TableSizes?
  /// Nil unless several servers may have the store open.
  let cluster: ClusterService?

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
  ) async throws -> SQLStore {
    try await open(at: .file(path: path), configuration: configuration)
  }

  /// Opens a store, and makes it when there is none.
  ///
  /// - Throws: what ``open(at:configuration:)-(String,_)`` does, and ``StoreError/Code/cannotOpen`` when
  ///   the PostgreSQL cannot be reached.
  public static func open(
    at location: StoreLocation, configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> SQLStore {
    try await open(at: location, configuration: configuration, migrations: Schema.migrations)
  }

  /// Makes an empty store in memory. It is gone when it is closed.
  public static func inMemory(
    configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> SQLStore {
    try await open(at: .memory, configuration: configuration)
  }

  static func open(
    path: String?, configuration: StoreConfiguration, migrations: [Migration]
  ) async throws -> SQLStore {
    try await open(
      at: path.map { .file(path: $0) } ?? .memory, configuration: configuration,
      migrations: migrations)
  }

  static func open(
    at location: StoreLocation, configuration: StoreConfiguration, migrations: [Migration]
  ) async throws -> SQLStore {
    try await onThread {
      try SQLStore(at: location, configuration: configuration, migrations: migrations)
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
    let files = try opening.assetFiles()
    let first = try opening.firstConnection(applying: migrations)
    self.configuration = configuration
    path = location.file
    fileDamage = path == nil ? nil : opening.damage
    serverDamage = path == nil ? opening.damage : nil
    context = try opening.context(over: first, quotas: quotas)
    threads = ThreadGroup(keeping: opening.lock)
    tail = try opening.tail(over: first)
    // The search cache follows the writer of this process alone.
    searchCache = SearchCache(limit: location.isShared ? 0 : configuration.tuning.searchCacheBytes)
    checkpointer = opening.checkpointer()
    limits = opening.isSharedServer ? StoreLimits(waiting: configuration.waitingReads) : nil
    tableSizes = location.isShared ? TableSizes() : nil
    cluster = try opening.cluster(over: first, context, threads: threads)
    transactions = opening.transactions(
      context, checkpointer: checkpointer, channel: cluster?.channel)

    let changeFeeds = ChangeFeedService(transactions: transactions)
    let assets = AssetService(transactions: transactions, files: files)
    let notificationLog = NotificationLogService(transactions: transactions, tail: tail)
    let changeHistory = ChangeHistoryService(transactions: transactions)
    let userDeletion = UserDeletionService(
      transactions: transactions, files: files, notificationLog: notificationLog)
    databases = DatabaseService(transactions: transactions)
    zones = ZoneService(transactions: transactions)
    records = RecordService(transactions: transactions, searchEffort: configuration.searchEffort)
    self.changeFeeds = changeFeeds
    self.assets = assets
    schemas = SchemaService(transactions: transactions)
    subscriptions = SubscriptionService(transactions: transactions)
    outbox = OutboxService(transactions: transactions)
    devices = DeviceService(transactions: transactions)
    deliveries = DeliveryService(transactions: transactions)
    self.notificationLog = notificationLog
    courier = CourierService(transactions: transactions, isShared: cluster != nil)
    self.changeHistory = changeHistory
    accounts = AccountService(transactions: transactions)
    credentials = CredentialService(transactions: transactions)
    secrets = SecretService(transactions: transactions)
    self.userDeletion = userDeletion
    adminAccess = AdminAccessService(transactions: transactions)
    administration = AdministrationService(transactions: transactions)
    maintenance = MaintenanceService(
      transactions: transactions, configuration: configuration, notificationLog: notificationLog,
      changeFeeds: changeFeeds, changeHistory: changeHistory, assets: assets,
      userDeletion: userDeletion, limits: limits)
    try bindAssets(over: first)
    try startThreads(opening, first: first)
  }

  deinit {
    closeQueues()
  }

  private func closeQueues() {
    transactions.writer.queue.close()
    transactions.reads.close()
    fills.close()
    cluster?.close()
    limits?.queue.close()
    checkpointer?.close()
  }

  /// What searches have in memory of the value index.
  public var searchCacheCounts: SearchCacheCounts { searchCache.counts }

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

  public func close() async {
    closeQueues()
    await threads.ended()
  }
}
