import SQLEngine
import StoreModel

/// The counters of the whole store. The catalog version rises when a schema or a role changes, or
/// when the deletion of a user begins.
///
/// The numbers inside a database are from its own sequence (``DatabaseTable/nextNumber(of:)``).
struct CounterTable: Table {
  let transaction: StoreTransaction

  /// Each row has the last number of a sequence, 0 before the first one:
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
  /// The row `schema` begins with 1. ``Migration`` adds the row `least_version`: the oldest schema
  /// version whose programs may use the store.
  static let definition = [
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
    """
    INSERT INTO counters (name, value)
    VALUES ('database', 0), ('record_type', 0), ('record_field', 0), ('schema', 1),
      ('push_route', 0), ('device', 0), ('server', 0)
    """,
  ]

  /// - Throws: ``LocksNeeded`` without the reference lock, which makes numbers rise from commit to
  ///   commit. ``StoreError/Code/corrupt`` if there is no such counter.
  func next(_ name: String) throws -> Int64 {
    try transaction.require(.reference)
    let isWriting = transaction.isWriting
    let value = try isWriting ? last(name).map { $0 + 1 } : nextAlone(name)
    guard let value else { throw StoreError(.corrupt, "the store has no counter '\(name)'") }
    guard isWriting else { return value }
    try decide(sql.raise, [.text(name), .integer(value)])
    transaction.writes.counters.decide(value, for: name)
    return value
  }

  private func nextAlone(_ name: String) throws -> Int64? {
    try connection.integer(sql.next, [.text(name)])
  }

  private func last(_ name: String) throws -> Int64? {
    if let known = transaction.writes.counters[name] { return known.row }
    // No decided statement changes an unknown counter.
    return try transaction.besidesDecisions { try Self.value(of: name, over: connection) }
  }

  /// Returns nil in a store without that counter.
  func catalogVersion() throws -> Int64? {
    try Self.value(of: "schema", over: connection)
  }

  // MARK: Before the store has transactions

  static func value(of name: String, over connection: any SQLConnection) throws -> Int64? {
    try connection.integer(sql.value, [.text(name)])
  }

  static func set(_ name: String, to value: Int64, over connection: any SQLConnection) throws {
    try connection.run(sql.set, [.text(name), .integer(value)])
  }

  struct Statements {
    let next: Statement = "UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value"
    let raise: Statement = "UPDATE counters SET value = $2 WHERE name = $1"
    let value: Statement = "SELECT value FROM counters WHERE name = $1"
    let set: Statement = """
      INSERT INTO counters (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """
    /// The row stands for all data outside of databases. Transactions that change users, devices,
    /// keys or schemas run the statement first.
    let referenceLock = "SELECT 1 FROM counters WHERE name = 'database' FOR NO KEY UPDATE".except(
      .onPostgreSQL)
    /// A transaction sends it with its first statements, so it needs no round trip of its own.
    let catalogVersion: Statement = "SELECT value FROM counters WHERE name = 'schema'"
    /// Fails with ``StoreError/Code/serializationFailure`` if the catalog version is not the
    /// argument (``DatabaseTable``, `lockUnchanged`).
    let unchangedCatalog =
      "SELECT 1 / CASE WHEN value = $1 THEN 1 ELSE 0 END FROM counters WHERE name = 'schema'"
      .except(.onPostgreSQL)
  }
  static let sql = Statements()
}

// If the save of a record creates a type or a field, the catalog version stays: a process whose
// cache lacks the type or field reads it from the tables. Every other change of a schema raises the
// version. Each transaction first reads the version, so the next transaction of every process reads
// the changed schema.
extension CounterTable {
  /// Empties the caches of record types, roles and deleted users if the catalog version has
  /// changed. Call the method at the start of a transaction.
  ///
  /// - Parameter known: the catalog version; nil reads it.
  func followSchema(foundAs known: Int64? = nil) throws {
    let version = try known ?? catalogVersion()
    guard version != transaction.catalog.version else { return }
    transaction.catalog.forgetSchemas()
    transaction.catalog.version = version
  }

  /// Call the method in the transaction that changes a schema, with the reference lock.
  func raiseCatalogVersion() throws {
    try followSchema(foundAs: try next("schema"))
  }
}
