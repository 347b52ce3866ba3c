import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The durable store on an SQL engine.
///
/// One thread writes, or a few on PostgreSQL. Each commits waiting writes together in one
/// transaction. A few threads read. Each thread has its own connection. Callers wait in
/// continuations, never on a thread.
public final class SQLStore: Store, Sendable {
  public let databases: any DatabaseStore
  public let zones: any ZoneStore
  public let records: any RecordReading & RecordWriting
  public let changeFeeds: any ChangeFeedStore
  /// For a store in a file, the bytes are beside it, in the folder with its name and `-assets`; for
  /// a store in memory, they are in memory.
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
  /// The store's SQLite file, if it is one.
  let path: String?
  /// The damage found in that file.
  let fileDamage: StoreDamage?
  /// The damage that PostgreSQL found in its own files. Undamaged data is still served.
  let serverDamage: StoreDamage?
  let context: StoreContext
  let threads: ThreadGroup
  let transactions: Transactions
  let readTally = ReadTally()
  let tail: NotificationTail?
  let searchCache: SearchCache
  /// Requested entries of the search cache.
  let fills = JobQueue(limit: 64, role: "entries of the search cache")
  /// Copies the log of a server's store in a file; elsewhere commits copy it.
  let checkpointer: Checkpointer?
  let limits: StoreLimits?
  /// The storage used by a store that is not in a file.
  let tableSizes: TableSizes?
  /// Nil unless several servers may have the store open.
  let cluster: ClusterService?

  /// Cluster membership and leases; nil if one server uses the store alone.
  public var servers: (any ClusterStore)? { cluster }
  /// Seconds by which the store's clock is ahead of this machine's.
  public var clockOffset: Double { cluster?.clock.offset ?? 0 }
  public var sharedLimits: (any SharedLimits)? { limits }

  /// Opens the store in this file, and creates it if there is none.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be opened, is not a store, or (for
  ///   a server) is open in another server; ``StoreError/Code/newerSchema`` if a newer Petrel wrote
  ///   it.
  public static func open(
    at path: String, configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> SQLStore {
    try await open(at: .file(path: path), configuration: configuration)
  }

  /// Opens a store, and creates it if there is none.
  ///
  /// - Throws: the errors of ``open(at:configuration:)-(String,_)``, and
  ///   ``StoreError/Code/cannotOpen`` if PostgreSQL cannot be reached.
  public static func open(
    at location: StoreLocation, configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> SQLStore {
    try await open(at: location, configuration: configuration, migrations: Schema.migrations)
  }

  /// Creates an empty store in memory. It is lost when it is closed.
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

  /// Runs a blocking `body` on a thread of its own.
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
    // The folder of the assets is beside the store, so creating it also creates the store's folder.
    let files = try opening.assetFiles()
    let first = try opening.firstConnection(applying: migrations)
    self.configuration = configuration
    path = location.file
    fileDamage = path == nil ? nil : opening.damage
    serverDamage = path == nil ? opening.damage : nil
    context = try opening.context(over: first, quotas: quotas)
    threads = ThreadGroup(keeping: opening.lock)
    tail = try opening.tail(over: first)
    // The search cache follows the writer of this process only.
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

  /// The search cache's contents and turnover.
  public var searchCacheCounts: SearchCacheCounts { searchCache.counts }

  /// The number of log entries in memory that wait to be filed in the index; see
  /// ``StoreConfiguration/Tuning/unfiledNotifications``.
  public var unfiledNotificationCount: Int { tail?.count ?? 0 }

  /// Whether a server has the store in this file open.
  public static func isServed(at path: String) -> Bool {
    ServerLock.isHeld(forStoreAt: path)
  }

  /// Whether no server uses the store in this file, and it has no log with contents.
  package static func isUnused(at path: String) -> Bool {
    // Without a log, there is no size to read.
    let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
    return (log?[.size] as? Int ?? 0) == 0 && !isServed(at: path)
  }

  /// Whether a server has the store open.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if PostgreSQL cannot be reached.
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
