import CloudKitModel
import SQLEngine
import StoreModel

/// The last numbers of store-wide sequences, and the version of the schemas.
///
/// Numbers inside a database do not come from here, but from the database's own sequence
/// (``NumberSupply``).
struct CounterTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// The counters; each row has the last number that was given:
  ///
  /// ```
  /// database                     databases; the row is also the reference lock
  /// record_type, record_field    record types and their fields
  /// schema                       the catalog version
  /// push_route                   delivery routes
  /// device                       tokens of devices
  /// server                       server IDs
  /// ```
  ///
  /// ``Migration`` adds `least_version`.
  static let definition = [
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
    """
    INSERT INTO counters (name, value)
    VALUES ('database', 0), ('record_type', 0), ('record_field', 0), ('schema', 1),
      ('push_route', 0), ('device', 0), ('server', 0)
    """,
  ]

  /// Raises one of the store-wide counters by one, and returns its new value.
  ///
  /// If the transaction is rolled back, later transactions get the same numbers.
  ///
  /// - Returns: the number, at least 1.
  /// - Throws: ``LocksNeeded`` if the transaction does not have the reference lock. The lock makes
  ///   numbers rise from commit to commit.
  func next(_ name: String) throws -> Int64 {
    try transaction.require(.reference)
    let value = try connection.first(
      "UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value", [.text(name)]
    ) { $0.integer(0) }
    guard let value else { throw StoreError(.corrupt, "the store has no counter '\(name)'") }
    return value
  }

  /// The catalog version, which covers types, roles and users under deletion. The result is nil in
  /// a store without that counter.
  func catalogVersion() throws -> Int64? {
    try Self.value(of: "schema", over: connection)
  }

  // MARK: Before the store has transactions

  /// The value of a counter; nil if there is none of this name.
  static func value(of name: String, over connection: any SQLConnection) throws -> Int64? {
    try connection.first("SELECT value FROM counters WHERE name = $1", [.text(name)]) {
      $0.integer(0)
    }
  }

  /// Sets a counter, and creates it if it is missing.
  static func set(_ name: String, to value: Int64, over connection: any SQLConnection) throws {
    try connection.run(
      """
      INSERT INTO counters (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """, [.text(name), .integer(value)])
  }
}

// Types and fields that are created by saving records need no new version: a process that does not
// know one looks it up. Every other change of a schema raises the version. Each transaction begins
// by reading the version (one row by its key), so the next transaction of every process sees the
// change.
extension CounterTable {
  /// Drops the cached schemas if the catalog version has changed. Call it at the start of a
  /// transaction.
  ///
  /// Addresses, zones and routes stay cached, because they never change.
  ///
  /// - Parameter known: the catalog version, if it has been read already.
  func followSchema(foundAs known: Int64? = nil) throws {
    let version =
      try known ?? catalogVersion()
    guard version != transaction.catalog.version else { return }
    transaction.catalog.types = [:]
    transaction.catalog.typesByNumber = [:]
    transaction.catalog.roles = [:]
    transaction.catalog.deletedUsers = nil
    transaction.catalog.version = version
  }

  /// Makes all processes read the schemas again. Call it in the transaction that changes one.
  ///
  /// - Throws: ``LocksNeeded`` if the transaction does not have the reference lock.
  func raiseCatalogVersion() throws {
    _ = try next("schema")
    try followSchema()
  }

  // MARK: At the beginning of a transaction on a shared store

  /// Locks the row that stands for all data outside of databases. Transactions that change users,
  /// devices, keys or schemas take it first.
  static let referenceLock =
    "SELECT 1 FROM counters WHERE name = 'database' FOR NO KEY UPDATE"

  /// Reads the catalog version. The transaction's first statements include it, so that it costs no
  /// round trip of its own.
  static let catalogVersion = "SELECT value FROM counters WHERE name = 'schema'"
}
