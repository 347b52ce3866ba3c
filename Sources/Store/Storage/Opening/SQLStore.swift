import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The durable store on an SQL engine.
///
/// One thread writes, or a few on PostgreSQL. Each commits waiting writes together in one
/// transaction. A few threads read. Each thread has its own connection. Callers wait in
/// continuations, never on a thread.
///
/// ```swift
/// let store = try await SQLStore.open(at: "/var/lib/petrel/petrel.sqlite")
/// let user = try await store.accounts.user(named: "alice")
/// await store.close()
/// ```
///
/// The properties of this type are the store's services, one for each subject. Each service opens
/// its own transactions, so two calls are never in one transaction.
public final class SQLStore: Store, Sendable {
  /// The databases of containers and users, created when they are first used.
  public let databases: any DatabaseStore
  /// The record zones of databases.
  public let zones: any ZoneStore
  /// The records: saving, fetching, deleting and searching.
  public let records: any RecordReading & RecordWriting
  /// The changes of zones and databases since a change token.
  public let changeFeeds: any ChangeFeedStore
  /// The assets of records: uploads, receipts and files.
  ///
  /// For a store in a file, the bytes are beside it, in the folder with its name and `-assets`. For
  /// a store in memory, they are in memory. For PostgreSQL, ``StoreLocation`` names the folder.
  public let assets: any AssetRegistry
  /// The schemas of containers, with their roles.
  public let schemas: any SchemaStore & RoleStore
  /// The subscriptions of users, and the feed from which the matching index follows them.
  public let subscriptions: any SubscriptionStore & SubscriptionFeed
  /// The committed changes that wait to be matched against subscriptions.
  public let outbox: any OutboxStore
  /// The registered devices, browsers, webhooks and courier readers.
  public let devices: any DeviceStore
  /// The pushes that wait to be sent, with their outcomes.
  public let deliveries: any DeliveryQueue
  /// The log of each user's notifications, as CloudKit's clients fetch it.
  public let notificationLog: any NotificationLogStore
  /// The notification log as readers of the web courier get it.
  public let courier: any CourierStore
  /// The dispatched changes and their notifications, to explain why a push was or was not sent.
  public let changeHistory: any ChangeHistoryStore
  /// The users, with their passwords, identities and sessions.
  public let accounts: any AccountStore & SignInStore & SessionStore & DiscoveryStore
  /// The API tokens and server-to-server keys of containers.
  public let credentials: any CredentialStore & SignatureStore
  /// The secrets that the server made for itself.
  public let secrets: any SecretStore
  /// The deletion of users with their data, and the list of data that the store has of a user.
  public let userDeletion: any UserDeletionStore & UserHoldingsStore
  /// The admin keys, and the sessions of the admin console.
  public let adminAccess: any AdminKeyStore & ConsoleSessionStore
  /// The lists of databases, subscriptions and pushes for administrators.
  public let administration: any AdministrationStore
  /// The background work of a server: retention, index building, user deletion.
  public let maintenance: any Maintenance
  /// The limits of the store's contents. A change takes effect with the next write.
  public let quotas = StoreQuotas()

  /// The configuration with which the store was opened. It never changes.
  let configuration: StoreConfiguration
  /// The store's SQLite file, if it is one.
  let path: String?
  /// The damage found in that file.
  let fileDamage: StoreDamage?
  /// The damage that PostgreSQL found in its own files. Undamaged data is still served.
  let serverDamage: StoreDamage?
  /// The constants that all transactions use.
  let context: StoreContext
  /// The store's threads, and the lock on its file.
  let threads: ThreadGroup
  /// The queues of reads and writes.
  let transactions: Transactions
  /// The counts of cancelled reads, for metrics.
  let readTally = ReadTally()
  /// The log entries that wait in memory to be filed; nil if each is filed at once, as on
  /// PostgreSQL.
  let tail: NotificationTail?
  /// The cached parts of the value index; always empty on PostgreSQL.
  let searchCache: SearchCache
  /// The requested entries of the search cache. At most 64 wait. A further request is refused, like
  /// an entry that could not be read.
  let fills = JobQueue(limit: 64, role: "entries of the search cache")
  /// The part that copies the log of a server's file; nil elsewhere, where commits copy it.
  let checkpointer: Checkpointer?
  /// The limits that servers count together; nil unless this is a server on PostgreSQL.
  let limits: StoreLimits?
  /// The storage used by a store that is not in a file.
  let tableSizes: TableSizes?
  /// The service of cluster membership; nil unless several servers may have the store open.
  let cluster: ClusterService?

  /// The cluster's membership and leases; nil if one server uses the store alone.
  public var servers: (any ClusterStore)? { cluster }
  /// The seconds by which the store's clock is ahead of this machine's.
  public var clockOffset: Double { cluster?.clock.offset ?? 0 }
  /// The limits that servers count together; nil if one server uses the store alone and counts in
  /// memory.
  public var sharedLimits: (any SharedLimits)? { limits }

  /// Opens the store in this file, and creates it if there is none.
  ///
  /// A server locks the file against other servers, checks the checksums of its pages and applies
  /// missing migrations. This takes up to `StoreConfiguration.Tuning.inspectionSeconds` for the
  /// checksums, and the time of the migrations.
  ///
  /// - Parameter path: the path of the SQLite file. The folder is created too.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be opened, is not a store, or (for
  ///   a server) is open in another server; ``StoreError/Code/newerSchema`` if a newer Petrel wrote
  ///   it; ``StoreError/Code/corrupt`` if it is damaged.
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

  /// Opens the store in a file, or in memory without a path, for tests of migrations.
  static func open(
    path: String?, configuration: StoreConfiguration, migrations: [Migration]
  ) async throws -> SQLStore {
    try await open(
      at: path.map { .file(path: $0) } ?? .memory, configuration: configuration,
      migrations: migrations)
  }

  /// Opens a store with these migrations.
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

  /// Opens the store on the calling thread, which blocks meanwhile.
  ///
  /// The order matters: the file is locked and checked first, then migrated over the first
  /// connection. The services are created next, and the threads start last.
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

  /// Closes all queues, so that the threads end after the jobs that already wait.
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

  /// The damage found in the store's file; nil if none was found, and always nil for a store that
  /// is not in a file.
  ///
  /// Once it is set, every call throws ``StoreError/Code/corrupt``, or
  /// ``StoreError/Code/diskFailed`` after a failed `fsync`.
  public var damage: String? { fileDamage?.reason }

  /// Sets the handler that is called once when damage is found, in the file or by PostgreSQL. The
  /// argument describes the damage.
  public func setDamageHandler(_ handler: (@Sendable (String) -> Void)?) {
    (fileDamage ?? serverDamage)?.setHandler(handler)
  }

  /// Sets the handler that is called once when an `fsync` of the store's file fails. A store on
  /// PostgreSQL never calls it.
  ///
  /// The store then refuses all requests. Restart the process to recover from the log.
  public func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?) {
    fileDamage?.setUnsyncedHandler(handler)
  }

  /// Finishes the jobs that wait, and closes all connections. It returns when the last thread has
  /// ended.
  ///
  /// Later calls of the services throw ``StoreError/Code/closed``.
  public func close() async {
    closeQueues()
    await threads.ended()
  }
}
