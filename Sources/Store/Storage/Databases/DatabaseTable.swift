import CloudKitModel
import SQLEngine
import StoreModel

/// The databases of the store, and the table that finds a database's number by its address.
///
/// A distributed store (``StoreDistribution``) divides the rows of `databases` over its nodes by
/// `database_id`, which each unique key of such a table must contain. So `databases` cannot ensure
/// that an address is unique. Each node has a full copy of `database_addresses`, whose primary key
/// ensures it.
struct DatabaseTable: Table {
  let transaction: StoreTransaction

  /// The columns of `databases`:
  ///
  /// - `owner` is empty for a public database.
  /// - `last_number` is the last number drawn from the database's sequence (``nextNumber(of:)``).
  /// - `subscription_version` rises with each change of subscriptions.
  /// - `stored_bytes` is the size in bytes of the database's records, and of the assets that its
  ///   records hold.
  ///
  /// The store adds a row about the deletion of a zone or subscription. It *forgets* the deletion
  /// when it removes that row, after the retention or with a deleted user. `trimmed_version` is the
  /// version of the newest forgotten deletion of a zone, `forgotten_version` that of a
  /// subscription; 0 if there is none.
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

  /// The query for the numbers of databases (``numbers(_:)``); the database is the column 3.
  ///
  /// - Parameter idleTimeout: in milliseconds. With it, the query locks the rows in the order of
  ///   their numbers, which prevents deadlocks, and PostgreSQL ends a transaction that is idle for
  ///   longer.
  static func numbers(of databases: [DatabaseID], lockedFor idleTimeout: Int64?) -> RowQuery {
    var query = idleTimeout == nil ? sql.numbers : sql.lockedNumbers
    for database in databases {
      query.rows.append(database.rawValue)
      if let idleTimeout { query.rows.append(idleTimeout) }
    }
    return query
  }

  // MARK: Addresses

  /// The connection's ``Catalog`` caches up to 50,000 addresses. A full cache is emptied.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database;
  ///   ``StoreError/Code/corrupt`` for an unknown environment or scope.
  func address(of database: DatabaseID) throws -> DatabaseAddress {
    if let known = transaction.catalog.addresses[database] { return known }
    if database == .vacant, let vacancy = transaction.vacancy { return vacancy }
    let address = try connection.first(sql.address, [.id(database)]) { row in
      guard let environment = ContainerEnvironment(rawValue: row.text(1)),
        let scope = DatabaseScope(rawValue: row.count(2))
      else {
        throw StoreError(.corrupt, "database \(database.rawValue) has an unknown address")
      }
      let owner = row.text(3)
      return DatabaseAddress(
        container: row.text(0), environment: environment, scope: scope,
        owner: owner.isEmpty ? nil : owner)
    }
    guard let address else { throw StoreError.missing(database) }
    if transaction.catalog.addresses.count >= 50_000 { transaction.catalog.addresses = [:] }
    transaction.catalog.addresses[database] = address
    return address
  }

  func database(at address: DatabaseAddress) throws -> DatabaseID? {
    try connection.first(sql.number, arguments(for: address)) { $0.database(0) }
  }

  func next(
    after database: Int64, of container: String, in environment: ContainerEnvironment
  ) throws -> Int64? {
    try connection.integer(
      sql.next, [.text(container), .text(environment.rawValue), .integer(database)])
  }

  /// Locks a database's row until the transaction ends. Until then, no other transaction can take
  /// the lock of ``numbers(of:lockedFor:)``, which every commit to the database takes. Only for a
  /// shared store.
  func lock(_ database: DatabaseID) throws {
    try connection.query(sql.lock, [.id(database)]) { _ in }
  }

  func lockAndDraw(_ database: DatabaseID) throws {
    try connection.run(sql.draw, [.id(database)])
  }

  /// Creates a database with its default zone. The new row needs no lock, because no other
  /// transaction can see it before the commit.
  ///
  /// - Parameter maker: nil for an administrator, whose new containers are not limited.
  /// - Throws: ``LocksNeeded`` without the reference lock. ``StoreError/Code/userDeleted`` if the
  ///   owner is being deleted or was deleted recently. ``ItemFailure/Code/quotaExceeded`` if the
  ///   container is one too many.
  func add(at address: DatabaseAddress, for maker: ContainerMaker?) throws -> DatabaseID {
    if let owner = address.owner {
      try UserDeletionTable(transaction: transaction).refuseDeleted(owner)
    }
    try ContainerTable(transaction: transaction).enter(address.container, for: maker)
    let database = DatabaseID(rawValue: try CounterTable(transaction: transaction).next("database"))
    let place = arguments(for: address) + [.id(database)]
    try decide(sql.addAddress, place)
    try decide(sql.add, place)
    transaction.hold(made: database)
    try ZoneTable(transaction: transaction).add(.default, in: database)
    return database
  }

  private func arguments(for address: DatabaseAddress) -> [SQLValue] {
    [
      .text(address.container), .text(address.environment.rawValue),
      .integer(Int64(address.scope.rawValue)), .text(address.owner ?? ""),
    ]
  }

  // MARK: Numbers and versions

  func lastNumber(drawnIn database: DatabaseID) throws -> Int64? {
    try connection.integer(sql.lastNumber, [.id(database)])
  }

  /// Returns nil if there is no such database in this container and environment.
  func lastNumber(
    drawnIn database: DatabaseID, of container: String, in environment: ContainerEnvironment
  ) throws -> Int64? {
    try connection.integer(
      sql.lastNumberAt, [.id(database), .text(container), .text(environment.rawValue)])
  }

  /// A reader of the subscriptions must read all of them again if `forgotten` is above the two
  /// versions that the reader got last.
  func subscriptionVersion(
    of database: DatabaseID
  ) throws -> (current: Int64, forgotten: Int64) {
    let versions = try connection.first(sql.subscriptionVersion, [.id(database)]) {
      (current: $0.integer(0), forgotten: $0.integer(1))
    }
    guard let versions else { throw StoreError.missing(database) }
    return versions
  }

  /// Throws ``StoreError/Code/statementFailed`` if the transaction has no lock of the database.
  func raiseSubscriptionVersion(of database: DatabaseID) throws -> Int64 {
    var numbers = try numbers(of: database)
    numbers.subscriptionVersion += 1
    transaction.writes.databases.decide(numbers, for: database)
    transaction.changedListeners[database] = .some(nil)
    return numbers.subscriptionVersion
  }

  func feedState(of database: DatabaseID) throws -> (version: Int64, trimmedVersion: Int64) {
    if database == .vacant { return (Self.firstNumber, 0) }
    let state = try connection.first(sql.feedState, [.id(database)]) {
      (version: $0.integer(0), trimmedVersion: $0.integer(1))
    }
    guard let state else { throw StoreError.missing(database) }
    return state
  }

  func note(trimmedZones version: ForgottenVersion) throws {
    try decide(sql.noteTrimmed, version.arguments)
  }

  func note(forgottenSubscriptions version: ForgottenVersion) throws {
    try decide(sql.noteForgotten, version.arguments)
  }

  struct Statements {
    let listing = ListingStatements()
    let address: Statement =
      "SELECT container, environment, scope, owner FROM databases WHERE database_id = $1"
    let number: Statement = """
      SELECT number FROM database_addresses
      WHERE container = $1 AND environment = $2 AND scope = $3 AND owner = $4
      """
    let next: Statement = """
      SELECT number FROM database_addresses
      WHERE container = $1 AND environment = $2 AND number > $3 ORDER BY number LIMIT 1
      """
    /// In the mode `EXCLUSIVE`, other transactions can read the table, but not write or lock its
    /// rows.
    let lockAll = "LOCK TABLE databases IN EXCLUSIVE MODE".except([.onPostgreSQL, .wholeTable])
    let lock = "SELECT 1 FROM databases WHERE database_id = $1 FOR UPDATE".except(.onPostgreSQL)
    let draw = "UPDATE databases SET last_number = last_number + 1 WHERE database_id = $1"
      .except(.onPostgreSQL)
    let numbers = RowQuery([.integer]) { _ in
      "SELECT \(columnsOfNumbers) FROM databases WHERE database_id = ANY($1::bigint[])"
    }
    let lockedNumbers = RowQuery([.integer, .integer]) { _ in
      """
      SELECT \(columnsOfNumbers),
        set_config('idle_in_transaction_session_timeout', ($2::bigint[])[1]::text, true)
      FROM databases WHERE database_id = ANY($1::bigint[])
      ORDER BY database_id FOR NO KEY UPDATE
      """
    }
    /// Locks the rows in the order of their numbers. It fails with
    /// ``StoreError/Code/serializationFailure`` if a number or a subscription version has changed:
    /// a division by zero makes the statement fail, so that the later statements of the same round
    /// trip are not executed.
    let lockUnchanged = RowQuery([.integer, .integer, .integer]) {
      """
      SELECT 1 / CASE WHEN last_number = c2 AND subscription_version = c3 THEN 1 ELSE 0 END
      FROM databases JOIN \($0) ON database_id = c1
      ORDER BY database_id FOR NO KEY UPDATE OF databases
      """
    }
    let numbersOfOne: Statement =
      "SELECT last_number, subscription_version, stored_bytes FROM databases WHERE database_id = $1"
    let storedBytes: Statement = "SELECT stored_bytes FROM databases WHERE database_id = $1"
    /// A number or version of 0 stays: nothing was drawn or raised.
    let raise = RowStatement(
      """
      UPDATE databases SET stored_bytes = stored_bytes + $3,
        last_number = CASE WHEN $2 > last_number THEN $2 ELSE last_number END,
        subscription_version = CASE WHEN $4 > subscription_version THEN $4
          ELSE subscription_version END
      WHERE database_id = $1
      """, [.integer, .integer, .integer, .integer]
    ) {
      """
      UPDATE databases SET stored_bytes = stored_bytes + c3,
        last_number = GREATEST(last_number, c2),
        subscription_version = GREATEST(subscription_version, c4)
      FROM \($0) WHERE database_id = c1
      """
    }
    let addAddress: Statement = """
      INSERT INTO database_addresses (container, environment, scope, owner, number)
      VALUES ($1, $2, $3, $4, $5)
      """
    let add: Statement = """
      INSERT INTO databases (container, environment, scope, owner, database_id, last_number,
        subscription_version, forgotten_version)
      VALUES ($1, $2, $3, $4, $5, 0, 0, 0)
      """
    let lastNumber: Statement = "SELECT last_number FROM databases WHERE database_id = $1"
    let lastNumberAt: Statement = """
      SELECT last_number FROM databases
      WHERE database_id = $1 AND container = $2 AND environment = $3
      """
    let subscriptionVersion: Statement =
      "SELECT subscription_version, forgotten_version FROM databases WHERE database_id = $1"
    let feedState: Statement =
      "SELECT last_number, trimmed_version FROM databases WHERE database_id = $1"
    let noteTrimmed: Statement =
      "UPDATE databases SET trimmed_version = $2 WHERE database_id = $1 AND trimmed_version < $2"
    let noteForgotten: Statement =
      "UPDATE databases SET forgotten_version = $2 WHERE database_id = $1 AND forgotten_version < $2"
  }
  static let sql = Statements()

  private static let columnsOfNumbers =
    "last_number, subscription_version, stored_bytes, database_id"
}

extension StoreError {
  static func missing(_ database: DatabaseID) -> StoreError {
    StoreError(.notFound, "there is no database with the number \(database.rawValue)")
  }
}
