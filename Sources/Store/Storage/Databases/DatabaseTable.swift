import CloudKitModel
import SQLEngine
import StoreModel

/// The databases of the store, and their numbers by their addresses.
///
/// The rows of `databases` are distributed by their number in a distributed store. Such a table can
/// have only unique keys that contain the distribution column. The unique address is therefore in a
/// table of its own, `database_addresses`, which is replicated to every node.
struct DatabaseTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// The columns of `databases`:
  ///
  /// - `owner` is empty for a public database.
  /// - `last_number` is the last number drawn (``NumberSupply``).
  /// - `subscription_version` rises with each change of subscriptions.
  /// - `stored_bytes` is the size of the database's records and assets.
  ///
  /// The store keeps a row for each deletion of a zone and of a subscription, and removes old ones:
  /// it *forgets* the deletions. `trimmed_version` is the version of the newest forgotten deletion
  /// of a zone. `forgotten_version` is the same for subscriptions. Both are 0 before the first one.
  static let definition = [
    """
    CREATE TABLE databases (
      database_id BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      scope BIGINT NOT NULL, owner TEXT NOT NULL, last_number BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, forgotten_version BIGINT NOT NULL,
      trimmed_version BIGINT NOT NULL DEFAULT 0, stored_bytes BIGINT NOT NULL DEFAULT 0)
    """,
    """
    CREATE TABLE database_addresses (
      container TEXT NOT NULL, environment TEXT NOT NULL, scope BIGINT NOT NULL,
      owner TEXT NOT NULL, number BIGINT NOT NULL,
      PRIMARY KEY (container, environment, scope, owner))
    """,
    "CREATE UNIQUE INDEX database_addresses_by_number ON database_addresses (number)",
  ]

  // MARK: Locks

  /// Locks all databases. PostgreSQL's mode `EXCLUSIVE` means: other transactions can read the
  /// table, but not write or lock its rows.
  static let lock = "LOCK TABLE databases IN EXCLUSIVE MODE"

  /// Locks the rows of databases, in order. The order prevents deadlocks.
  static func lock(of databases: [DatabaseID]) -> String {
    let numbers = databases.map { "\($0.rawValue)" }.joined(separator: ",")
    return "SELECT 1 FROM databases WHERE database_id IN (\(numbers))"
      + " ORDER BY database_id FOR NO KEY UPDATE"
  }

  // MARK: Addresses

  /// A database's address.
  ///
  /// The connection's ``Catalog`` caches up to 50,000 addresses; a full cache is emptied. An
  /// address never changes.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database,
  ///   ``StoreError/Code/corrupt`` if its environment or scope is unknown.
  func address(of database: DatabaseID) throws -> DatabaseAddress {
    if let known = transaction.catalog.addresses[database] { return known }
    let address = try connection.first(
      "SELECT container, environment, scope, owner FROM databases WHERE database_id = $1",
      [.integer(database.rawValue)]
    ) { row in
      guard let environment = ContainerEnvironment(rawValue: row.text(1)),
        let scope = DatabaseScope(rawValue: Int(row.integer(2)))
      else {
        throw StoreError(.corrupt, "database \(database.rawValue) has an unknown address")
      }
      let owner = row.text(3)
      return DatabaseAddress(
        container: row.text(0), environment: environment, scope: scope,
        owner: owner.isEmpty ? nil : owner)
    }
    guard let address else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    if transaction.catalog.addresses.count >= 50_000 { transaction.catalog.addresses = [:] }
    transaction.catalog.addresses[database] = address
    return address
  }

  /// The number of the database at an address; nil if there is none.
  func database(at address: DatabaseAddress) throws -> DatabaseID? {
    try connection.first(
      """
      SELECT number FROM database_addresses
      WHERE container = $1 AND environment = $2 AND scope = $3 AND owner = $4
      """, arguments(for: address)
    ) { DatabaseID(rawValue: $0.integer(0)) }
  }

  /// The number of the next database of a container, in the order of numbers.
  ///
  /// - Parameter database: the number of the database before; a number below 1 starts with the
  ///   first database.
  /// - Returns: nil at the end.
  func next(
    after database: Int64, of container: String, in environment: ContainerEnvironment
  ) throws -> Int64? {
    try connection.first(
      """
      SELECT number FROM database_addresses
      WHERE container = $1 AND environment = $2 AND number > $3 ORDER BY number LIMIT 1
      """, [.text(container), .text(environment.rawValue), .integer(database)]
    ) { $0.integer(0) }
  }

  /// Locks a database's row until the transaction ends. The lock has an effect only on a shared
  /// store. It excludes the lock of ``lock(of:)``, which every commit to the database takes.
  func lock(_ database: DatabaseID) throws {
    try connection.query(
      "SELECT 1 FROM databases WHERE database_id = $1 FOR UPDATE", [.integer(database.rawValue)]
    ) { _ in }
  }

  /// Creates a database with its default zone.
  ///
  /// The new row needs no statement for its lock: no other transaction can see the row before the
  /// commit.
  ///
  /// - Throws: ``LocksNeeded`` without the reference lock, ``StoreError/Code/userDeleted`` if the
  ///   owner is being deleted.
  func add(at address: DatabaseAddress) throws -> DatabaseID {
    if let owner = address.owner {
      try UserDeletionTable(transaction: transaction).refuseDeleted(owner)
    }
    let database = DatabaseID(rawValue: try CounterTable(transaction: transaction).next("database"))
    let place = arguments(for: address) + [.integer(database.rawValue)]
    try connection.run(
      """
      INSERT INTO database_addresses (container, environment, scope, owner, number)
      VALUES ($1, $2, $3, $4, $5)
      """, place)
    try connection.run(
      """
      INSERT INTO databases (container, environment, scope, owner, database_id, last_number,
        subscription_version, forgotten_version)
      VALUES ($1, $2, $3, $4, $5, 0, 0, 0)
      """, place)
    transaction.hold(made: database)
    var numbers = try NumberSupply(of: database, count: 1, from: transaction)
    try ZoneTable(transaction: transaction).add(.default, in: database, numbers: &numbers)
    return database
  }

  /// The four columns of an address, in their order in both tables.
  private func arguments(for address: DatabaseAddress) -> [SQLValue] {
    [
      .text(address.container), .text(address.environment.rawValue),
      .integer(Int64(address.scope.rawValue)), .text(address.owner ?? ""),
    ]
  }

  // MARK: Numbers and versions

  /// Draws numbers of a database.
  ///
  /// The row's lock is held until the commit, so numbers rise from commit to commit.
  ///
  /// - Returns: the last number, and the database's subscription version.
  /// - Throws: ``StoreError/Code/statementFailed`` if the transaction has no lock of the database,
  ///   ``StoreError/Code/notFound`` if there is no such database.
  func draw(
    _ count: Int, from database: DatabaseID
  ) throws -> (last: Int64, subscriptionVersion: Int64) {
    try transaction.checkLock(of: database)
    let result = try connection.first(
      """
      UPDATE databases SET last_number = last_number + $2 WHERE database_id = $1
      RETURNING last_number, subscription_version
      """,
      [.integer(database.rawValue), .integer(Int64(count))]
    ) { ($0.integer(0), $0.integer(1)) }
    guard let result else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    return result
  }

  /// The last number drawn from the database's sequence (``NumberSupply``); nil if there is no such
  /// database.
  ///
  /// Some of the last numbers may be unused, because they are drawn in advance.
  func lastNumber(drawnIn database: DatabaseID) throws -> Int64? {
    try connection.first(
      "SELECT last_number FROM databases WHERE database_id = $1", [.integer(database.rawValue)]
    ) { $0.integer(0) }
  }

  /// The last number drawn from the database's sequence (``NumberSupply``); nil unless the database
  /// exists in this container and environment.
  func lastNumber(
    drawnIn database: DatabaseID, of container: String, in environment: ContainerEnvironment
  ) throws -> Int64? {
    try connection.first(
      """
      SELECT last_number FROM databases
      WHERE database_id = $1 AND container = $2 AND environment = $3
      """,
      [.integer(database.rawValue), .text(container), .text(environment.rawValue)]
    ) { $0.integer(0) }
  }

  /// A database's subscription version, and the version of the newest forgotten deletion of a
  /// subscription.
  ///
  /// A reader whose version is below the forgotten one must read all subscriptions again.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func subscriptionVersion(
    of database: DatabaseID
  ) throws -> (current: Int64, forgotten: Int64) {
    let versions = try connection.first(
      """
      SELECT subscription_version, forgotten_version FROM databases WHERE database_id = $1
      """, [.integer(database.rawValue)]
    ) { (current: $0.integer(0), forgotten: $0.integer(1)) }
    guard let versions else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    return versions
  }

  /// Raises a database's subscription version by one and returns it.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` if the transaction has no lock of the database,
  ///   ``StoreError/Code/notFound`` if there is no such database.
  func raiseSubscriptionVersion(of database: DatabaseID) throws -> Int64 {
    try transaction.checkLock(of: database)
    let version = try connection.first(
      """
      UPDATE databases SET subscription_version = subscription_version + 1
      WHERE database_id = $1 RETURNING subscription_version
      """, [.integer(database.rawValue)]
    ) { $0.integer(0) }
    guard let version else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    return version
  }

  /// The version of the feed of a database's zones, which is the last number drawn, and the version
  /// of the newest forgotten deletion of a zone.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func feedState(of database: DatabaseID) throws -> (version: Int64, trimmedVersion: Int64) {
    let state = try connection.first(
      "SELECT last_number, trimmed_version FROM databases WHERE database_id = $1",
      [.integer(database.rawValue)]
    ) { (version: $0.integer(0), trimmedVersion: $0.integer(1)) }
    guard let state else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    return state
  }

  /// Raises `trimmed_version`, after the deletions of zones up to a version were removed. A lower
  /// version changes nothing.
  func note(trimmedZones version: ForgottenVersion) throws {
    try connection.run(
      """
      UPDATE databases SET trimmed_version = $2
      WHERE database_id = $1 AND trimmed_version < $2
      """, version.arguments)
  }

  /// Raises `forgotten_version`, after the deletions of subscriptions up to a version were removed.
  /// A lower version changes nothing.
  func note(forgottenSubscriptions version: ForgottenVersion) throws {
    try connection.run(
      "UPDATE databases SET forgotten_version = $2 WHERE database_id = $1 AND forgotten_version < $2",
      version.arguments)
  }
}
