import CloudKitModel
import StoreModel

/// The databases of a store, which clients name by addresses (container, environment, scope and
/// owner), and the storage that they use.
public struct DatabaseService: Sendable {
  let transactions: Transactions
  let searchEffort: SearchEffort

  /// Returns the number of the database at this address; nil if it does not exist yet.
  public func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID? {
    try await transactions.read { try DatabaseTable(transaction: $0).database(at: address) }
  }

  /// Returns the number of the database for a read; nil if it does not exist yet. Only the shared
  /// database of a user who takes part in a share is created then.
  public func readableDatabase(at address: DatabaseAddress) async throws -> DatabaseID? {
    let (known, isNeeded) = try await transactions.read { transaction in
      if let known = try DatabaseTable(transaction: transaction).database(at: address) {
        return (DatabaseID?.some(known), false)
      }
      guard address.scope == .shared else { return (nil, false) }
      let shared = SharedDatabase(address: address, transaction: transaction)
      return (nil, try !shared.zones().isEmpty)
    }
    return isNeeded ? try await database(at: address) : known
  }

  /// Returns the number of the database at this address. The first call for an address creates the
  /// database with its default zone. The write searches again, because two requests can come at the
  /// same moment.
  ///
  /// - Parameter maker: the user for whom the database is created, whose new containers are
  ///   limited; nil for an administrator or a tool.
  /// - Throws: ``StoreError/Code/userDeleted`` if there is no such database yet, and its owner is
  ///   being deleted or was deleted recently; ``ItemFailure/Code/quotaExceeded`` if the container
  ///   is new and one too many.
  public func database(
    at address: DatabaseAddress, for maker: ContainerMaker? = nil
  ) async throws -> DatabaseID {
    if let known = try await existingDatabase(at: address) { return known }
    return try await transactions.write(locking: .reference) { transaction in
      let databases = DatabaseTable(transaction: transaction)
      return try databases.database(at: address) ?? databases.add(at: address, for: maker)
    }
  }

  /// Returns the contents that a database has before it exists: the default zone, and nothing else.
  /// Change tokens of these contents stay valid when the database is created: they begin before its
  /// first change.
  public func vacancy(at address: DatabaseAddress) -> DatabaseContents {
    let transactions = transactions.readingVacancy(at: address)
    return DatabaseContents(
      of: .vacant, zones: ZoneService(transactions: transactions),
      records: RecordService(transactions: transactions, searchEffort: searchEffort),
      changeFeeds: ChangeFeedService(transactions: transactions),
      subscriptions: SubscriptionService(transactions: transactions))
  }

  /// Throws ``StoreError/Code/notFound`` if there is no such database.
  public func address(of database: DatabaseID) async throws -> DatabaseAddress {
    try await transactions.read { try DatabaseTable(transaction: $0).address(of: database) }
  }

  /// Returns the storage that a private or public database uses after the last commit; nil for a
  /// shared one. Throws ``StoreError/Code/notFound`` if there is no such database.
  public func usage(of database: DatabaseID) async throws -> DatabaseUsage? {
    try await transactions.read { try DatabaseUsage(of: database, in: $0) }
  }
}

extension DatabaseUsage {
  /// Returns nil for a shared database. The bytes of assets that no record holds include the
  /// changes of this transaction, the others are of the last commit.
  init?(of database: DatabaseID, in transaction: StoreTransaction) throws {
    let databases = DatabaseTable(transaction: transaction)
    guard try databases.address(of: database).scope != .shared else { return nil }
    let unheld = try AssetTable(transaction: transaction).unheldBytes(in: database)
    self.init(bytes: try databases.bytesInRow(of: database), unheldAssetBytes: unheld)
  }
}

/// The storage that a database uses.
public struct DatabaseUsage: Sendable, Hashable {
  /// The bytes of encoded records, and of the assets in them. A file that several records hold
  /// counts once.
  public var bytes: Int64
  /// The bytes of uploaded files that no field of a record has.
  public var unheldAssetBytes: Int64
}

/// The contents of one database, as clients read them.
///
/// The services of a database that does not exist yet are others than those of the store. They find
/// the database empty, with its default zone, and change nothing.
public struct DatabaseContents: Sendable {
  /// The number of the database; `DatabaseID.vacant` if it does not exist.
  public let database: DatabaseID
  /// The service that lists its zones.
  public let zones: ZoneService
  /// The service that fetches and finds its records.
  public let records: RecordService
  /// The service that reads its change feeds.
  public let changeFeeds: ChangeFeedService
  /// The service that lists its subscriptions.
  public let subscriptions: SubscriptionService

  /// Bundles services that read the same database.
  public init(
    of database: DatabaseID, zones: ZoneService, records: RecordService,
    changeFeeds: ChangeFeedService, subscriptions: SubscriptionService
  ) {
    self.database = database
    self.zones = zones
    self.records = records
    self.changeFeeds = changeFeeds
    self.subscriptions = subscriptions
  }
}
