import Foundation
import SQLEngine
import StoreModel

/// The store of a server: a service for each subject, on an SQL engine.
///
/// Only the code that opens a store or starts a server uses the whole store. It passes to each part
/// of the server only the services that the part calls.
///
/// ```swift
/// let store = try await Store.open(at: "/var/lib/petrel/petrel.sqlite")
/// let user = try await store.accounts.user(named: "alice")
/// await store.close()
/// ```
///
/// A write is durable when its call returns, even if the power fails right after. Most calls that
/// write are one transaction: if such a call throws, it has changed nothing. As an exception, after
/// ``StoreError/Code/outcomeUnknown`` the change may have been committed. The documentation says so
/// if a call has several transactions. In a distributed store, a call about several databases has a
/// transaction for each of them.
///
/// Writes that wait at the same time can share one commit. In it, each write succeeds or is rolled
/// back by itself. Two calls of a caller do not form one atomic change, even if they share a commit.
///
/// All methods that can throw throw ``StoreError`` if the store itself fails. If too many calls
/// wait, they throw ``StoreError/Code/overloaded`` at once. Failures of single items are in the
/// outcomes (``ItemFailure``).
///
/// One thread writes, or a few on PostgreSQL; others read. Each has its own connection. A caller's
/// task is suspended until its job is done, so callers block no thread.
public final class Store: Sendable {
  /// The databases of containers and users, created when they are first used.
  public let databases: DatabaseService
  /// The record zones of databases.
  public let zones: ZoneService
  /// The records: saving, fetching, deleting and searching.
  public let records: RecordService
  /// The changes of zones and databases since a change token.
  public let changeFeeds: ChangeFeedService
  /// The assets of records: uploads, receipts and files.
  ///
  /// For a store in a file, the bytes of assets are in a folder beside the file. The folder's name
  /// is the file's name with `-assets`. For a store in memory, they are in memory. For PostgreSQL,
  /// ``StoreLocation/postgreSQL(_:assets:)`` names the folder.
  public let assets: AssetService
  /// The shares, as others than their owners find them.
  public let shares: ShareService
  /// The shares of all users, for administrators.
  public let shareAdministration: ShareAdministrationService
  /// The schemas of containers, with their roles.
  public let schemas: SchemaService
  /// The subscriptions of users, and the feed of their changes. The index that matches changes with
  /// subscriptions reads this feed to stay current.
  public let subscriptions: SubscriptionService
  /// The committed changes that wait to be matched against subscriptions.
  public let outbox: OutboxService
  /// The registered devices, browsers, webhooks and courier readers.
  public let devices: DeviceService
  /// The pushes that wait to be sent, with their outcomes.
  public let deliveries: DeliveryService
  /// The log of each user's notifications, as CloudKit's clients fetch it.
  public let notificationLog: NotificationLogService
  /// The notification log for readers of the web courier: clients that poll the server.
  public let courier: CourierService
  /// The dispatched changes and their notifications, to explain why a push was or was not sent.
  public let changeHistory: ChangeHistoryService
  /// The users, with their passwords, identities and sessions.
  public let accounts: AccountService
  /// The API tokens and server-to-server keys of containers.
  public let credentials: CredentialService
  /// The secrets that the server has created for its own use.
  public let secrets: SecretService
  /// The deletion of users with their data, and the list of data that the store has of a user.
  public let userDeletion: UserDeletionService
  /// The admin keys, and the sessions of the admin console.
  public let adminAccess: AdminAccessService
  /// The lists of databases, subscriptions and pushes for administrators.
  public let administration: AdministrationService
  /// The background work of a server: retention, index building, user deletion.
  public let maintenance: MaintenanceService
  /// The limits on the store's contents, which can be changed. A change applies to later writes.
  public let quotas = StoreQuotas()

  let configuration: StoreConfiguration
  let address: PostgreSQLAddress?
  let outage: PostgreSQLOutage
  let path: String?
  let fileDamage: StoreDamage?
  /// PostgreSQL's damage in its own files, despite which the server serves undamaged data. nil for
  /// a store in a file.
  let serverDamage: StoreDamage?
  let context: StoreContext
  let threads: ThreadGroup
  /// The queues of reads and writes.
  let transactions: Transactions
  let readTally = ReadTally()
  /// nil on PostgreSQL and for a tool, which insert each entry at once.
  let tail: NotificationTail?
  /// Always empty on PostgreSQL.
  let searchCache: SearchCache
  /// Requests to make entries of the search cache. A request above the limit is refused, and its
  /// entry not made.
  let fills = JobQueue(limit: 64, role: "entries of the search cache")
  /// Only for the file of a server: otherwise SQLite copies the log when it commits.
  let checkpointer: Checkpointer?
  let limits: StoreLimits?
  let tableSizes: TableSizes?
  /// The cluster's membership and leases; nil if one server uses the store alone.
  public let servers: ClusterService?
  /// The seconds by which PostgreSQL's clock is ahead of this machine's: negative if it is behind,
  /// 0 for other engines.
  public var clockOffset: Double { servers?.clock.offset ?? 0 }
  /// The limits that servers count together; nil if one server uses the store alone and counts in
  /// its memory.
  public var sharedLimits: (any SharedLimits)? { limits }
  /// Whether other servers may serve the store at the same time.
  public var isShared: Bool { limits != nil }

  /// Opens the store in a file, or creates an empty one.
  ///
  /// A server locks the file and checks the checksums of its pages, for at most
  /// ``StoreConfiguration/Tuning/inspectionSeconds``. Servers and tools then apply missing
  /// migrations.
  ///
  /// - Parameter path: the path of the SQLite file, whose folder is created if necessary.
  /// - Throws:
  ///   - ``StoreError/Code/cannotOpen`` if the file cannot be opened or is not a store, or if
  ///     another server has it open and this process is a server.
  ///   - ``StoreError/Code/newerSchema`` if a newer Petrel has changed the store so that this one
  ///     cannot use it.
  ///   - ``StoreError/Code/olderSchema`` if a Petrel from before the first release created the
  ///     store.
  ///   - ``StoreError/Code/corrupt`` if the file is damaged.
  public static func open(
    at path: String, configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> Store {
    try await open(at: .file(path: path), configuration: configuration)
  }

  /// Opens the store at a location, or creates an empty one.
  ///
  /// - Throws: the errors of ``open(at:configuration:)-(String,_)``, and
  ///   ``StoreError/Code/cannotOpen`` if PostgreSQL cannot be reached.
  public static func open(
    at location: StoreLocation, configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> Store {
    try await open(at: location, configuration: configuration, migrations: Schema.migrations)
  }

  /// Creates an empty store in memory.
  public static func inMemory(
    configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> Store {
    try await open(at: .memory, configuration: configuration)
  }

  /// Serves tests of migrations. A path of nil is a store in memory.
  static func open(
    path: String?, configuration: StoreConfiguration, migrations: [Migration]
  ) async throws -> Store {
    try await open(
      at: path.map { .file(path: $0) } ?? .memory, configuration: configuration,
      migrations: migrations)
  }

  static func open(
    at location: StoreLocation, configuration: StoreConfiguration, migrations: [Migration]
  ) async throws -> Store {
    try await onThread {
      try Store(at: location, configuration: configuration, migrations: migrations)
    }
  }

  package static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread { continuation.resume(with: Result { try body() }) }
      thread.start()
    }
  }

  /// Opens the store on the calling thread, which blocks meanwhile. The order matters:
  ///
  /// 1. The file is locked and checked.
  /// 2. The store is migrated over the first connection.
  /// 3. The services are created.
  /// 4. The threads start.
  private init(
    at location: StoreLocation, configuration: StoreConfiguration, migrations: [Migration]
  ) throws {
    let opening = try StoreOpening(of: location, by: configuration)
    // The folder of the assets is beside the store, so creating it also creates the store's folder.
    let files = try opening.assetFiles()
    let first = try opening.firstConnection(applying: migrations)
    self.configuration = configuration
    address = location.address
    outage = opening.outage
    path = location.file
    fileDamage = path == nil ? nil : opening.damage
    serverDamage = path == nil ? opening.damage : nil
    context = try opening.context(over: first, quotas: quotas)
    threads = ThreadGroup(keeping: opening.lock, ofStoreAt: path)
    tail = try opening.tail(over: first)
    // The search cache learns only of writes by this process, so it is off on PostgreSQL.
    searchCache = SearchCache(limit: location.isShared ? 0 : configuration.tuning.searchCacheBytes)
    checkpointer = opening.checkpointer()
    limits = opening.isSharedServer ? StoreLimits(waiting: configuration.waitingReads) : nil
    tableSizes = location.isShared ? TableSizes() : nil
    servers = try opening.cluster(over: first, context, threads: threads)
    transactions = opening.transactions(
      context, checkpointer: checkpointer, channel: servers?.channel)

    changeFeeds = ChangeFeedService(transactions: transactions)
    assets = AssetService(transactions: transactions, files: files)
    notificationLog = NotificationLogService(
      transactions: transactions, tail: tail, limits: configuration.notificationLog)
    changeHistory = ChangeHistoryService(transactions: transactions)
    userDeletion = UserDeletionService(
      transactions: transactions, files: files, notificationLog: notificationLog)
    databases = DatabaseService(
      transactions: transactions, searchEffort: configuration.searchEffort)
    zones = ZoneService(transactions: transactions)
    records = RecordService(transactions: transactions, searchEffort: configuration.searchEffort)
    shares = ShareService(transactions: transactions)
    shareAdministration = ShareAdministrationService(transactions: transactions)
    schemas = SchemaService(transactions: transactions)
    subscriptions = SubscriptionService(transactions: transactions)
    outbox = OutboxService(transactions: transactions, notificationLog: notificationLog)
    devices = DeviceService(transactions: transactions)
    deliveries = DeliveryService(transactions: transactions)
    courier = CourierService(transactions: transactions)
    accounts = AccountService(transactions: transactions)
    credentials = CredentialService(transactions: transactions)
    secrets = SecretService(transactions: transactions)
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
    servers?.close()
    limits?.queue.close()
    checkpointer?.close()
  }

  /// Returns whether a server has the store in this file open.
  public static func isServed(at path: String) -> Bool {
    ServerLock.isHeld(forStoreAt: path)
  }

  /// Whether no server uses the store in this file, and it has no write-ahead log.
  package static func isUnused(at path: String) -> Bool {
    !hasLog(at: path) && !isServed(at: path)
  }

  static func hasLog(at path: String) -> Bool {
    AssetFiles.size(of: path + "-wal") ?? 0 > 0
  }

  /// Returns whether a server has the store open; false for a store in memory.
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

  /// The damage found in the store's file, or its failed `fsync`; nil for a store that is not in a
  /// file.
  ///
  /// After damage was found, every later transaction throws ``StoreError/Code/corrupt``. After a
  /// failed `fsync`, it throws ``StoreError/Code/diskFailed``.
  public var damage: String? { fileDamage?.reason }

  /// Sets the handler of the first damage, found in the store's file or by PostgreSQL. If there is
  /// damage already, the method calls the handler at once; otherwise the thread that finds the
  /// damage does.
  public func setDamageHandler(_ handler: (@Sendable (String) -> Void)?) {
    (fileDamage ?? serverDamage)?.setHandler(handler)
  }

  /// Sets the handler of the first failed `fsync` of the store's file. If one has failed already,
  /// the method calls the handler at once.
  ///
  /// After the failure, the store refuses all requests with ``StoreError/Code/diskFailed``. Restart
  /// the process to recover from the log.
  ///
  /// The handler gets a description of the failure.
  public func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?) {
    fileDamage?.setUnsyncedHandler(handler)
  }

  /// Closes the store: the threads do the waiting jobs and close all connections. Returns when the
  /// last thread has ended.
  ///
  /// Later reads and writes throw ``StoreError/Code/closed``.
  public func close() async {
    closeQueues()
    await threads.ended()
  }
}
