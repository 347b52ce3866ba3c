import SQLEngine
import StoreModel

/// The distribution of a store over the nodes of Citus, PostgreSQL's extension for several servers.
///
/// All rows of one database lie on one node: the tables whose primary key has `database_id` are
/// distributed by it, in one group of shards. All other tables are small and replicated to every
/// node (reference tables). So a statement that names its database runs on one node. So does a
/// transaction that writes to one database, except for its writes to the small tables.
///
/// Citus's functions are `create_distributed_table` and `create_reference_table`.
public enum StoreDistribution {
  /// The table that has one row if the store is distributed, and no row otherwise.
  static let definition = ["CREATE TABLE store_shards (shard_count BIGINT PRIMARY KEY)"]

  /// The default number of shards, the same as Citus's.
  public static let standardShardCount = 32
  /// The permitted numbers of shards: each shard is a table for every table of the store.
  public static let shardCounts = 1...4_096

  /// The table with which the others are colocated.
  private static let first = "databases"

  /// The present distribution of a store.
  public struct Spread: Sendable, Hashable {
    /// The number of shards that the distribution began with.
    public var shardCount: Int
    /// The number of nodes that have shards; 0 if the extension is gone.
    public var nodeCount: Int
  }

  /// The location of a table's rows.
  enum Place: Equatable {
    /// On the node of their database.
    case database
    /// On every node.
    case everywhere
  }

  /// The location of the rows of a table with this primary key.
  static func place(of key: some Sequence<String>) -> Place {
    key.contains("database_id") ? .database : .everywhere
  }

  /// Creates a distributed store, or distributes an existing one, whose data is kept. No server may
  /// have it open.
  ///
  /// - Parameter shardCount: the number of shards; see ``shardCounts``. Petrel cannot change it
  ///   later.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the database has no Citus, a server has the store
  ///   open, or the store is already distributed. Nothing is changed then.
  public static func begin(at address: PostgreSQLAddress, shardCount: Int) async throws {
    try await SQLStore.onThread {
      let connection = try PostgreSQLConnection(
        to: address,
        settings: PostgreSQLConnection.Settings(statementTimeout: 0, serving: .alone))
      defer { connection.close() }
      try checkExtension(of: connection)
      try Migration.apply(Schema.migrations, to: connection)
      try begin(over: connection, shardCount: shardCount)
    }
  }

  /// Distributes an existing store, whose data is kept. No server may have it open.
  ///
  /// - Parameter shardCount: the number of shards; see ``shardCounts``. Petrel cannot change it
  ///   later.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the database has no Citus, or the store is already
  ///   distributed.
  static func begin(over connection: any SQLConnection, shardCount: Int) throws {
    try checkExtension(of: connection)
    guard try !isMarked(connection) else {
      throw StoreError(.cannotOpen, "the store at \(connection.name) is distributed already")
    }
    try inOneTransaction(over: connection) {
      try connection.run(
        "INSERT INTO store_shards (shard_count) VALUES ($1)", [.integer(Int64(shardCount))])
      try distributeTables(of: connection, shardCount: shardCount)
    }
  }

  /// Distributes the tables that migrations added to a distributed store.
  ///
  /// - Returns: whether the store is distributed.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if it is distributed and the database has no Citus.
  static func complete(over connection: any SQLConnection) throws -> Bool {
    guard connection.kind == .postgreSQL, try isMarked(connection) else {
      return false
    }
    try checkExtension(of: connection)
    if try !undistributedTables(of: connection).isEmpty {
      try inOneTransaction(over: connection) {
        try distributeTables(of: connection, shardCount: standardShardCount)
      }
    }
    return true
  }

  /// Returns the present distribution of the store; nil if the store is not distributed.
  ///
  /// - Returns: the number of shards, and the number of active nodes that may have shards.
  package static func spread(over connection: any SQLConnection) throws -> Spread? {
    guard let shardCount = try shardCount(of: connection) else { return nil }
    guard try hasExtension(connection) else {
      return Spread(shardCount: shardCount, nodeCount: 0)
    }
    let nodeCount = try connection.first(
      "SELECT COUNT(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards", []
    ) { Int($0.integer(0)) }
    return Spread(shardCount: shardCount, nodeCount: nodeCount ?? 0)
  }

  /// Whether the store is distributed.
  private static func isMarked(_ connection: any SQLConnection) throws -> Bool {
    try shardCount(of: connection) != nil
  }

  /// The number of shards; nil if the store is not distributed, or has no tables yet.
  private static func shardCount(of connection: any SQLConnection) throws -> Int? {
    let isThere =
      try connection.first("SELECT to_regclass('store_shards') IS NOT NULL", []) {
        $0.integer(0) != 0
      } ?? false
    guard isThere else { return nil }
    return try connection.first("SELECT shard_count FROM store_shards", []) {
      Int($0.integer(0))
    }
  }

  /// Whether the database has the extension Citus.
  private static func hasExtension(_ connection: any SQLConnection) throws -> Bool {
    try connection.first("SELECT 1 FROM pg_extension WHERE extname = 'citus'", []) { _ in true }
      ?? false
  }

  /// Checks that the database has the extension Citus.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` otherwise.
  private static func checkExtension(of connection: any SQLConnection) throws {
    if try hasExtension(connection) { return }
    throw StoreError(
      .cannotOpen,
      "the database at \(connection.name) does not have the extension Citus, which a distributed "
        + "store needs; install and preload Citus in PostgreSQL, and run CREATE EXTENSION citus")
  }

  /// Runs `body` in a transaction that excludes migrations and writers, and rolls it back after an
  /// error.
  private static func inOneTransaction(
    over connection: any SQLConnection, _ body: () throws -> Void
  ) throws {
    try Migration.begin(on: connection)
    do {
      // Other connections to a node do not see new objects before the commit.
      try connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
      try body()
      try connection.commit()
    } catch {
      connection.giveUpTransaction()
      throw error
    }
  }

  /// Distributes the tables that are not distributed yet. A repeated call changes nothing.
  private static func distributeTables(
    of connection: any SQLConnection, shardCount: Int
  ) throws {
    let names = try undistributedTables(of: connection)
    // The other tables are colocated with the first.
    for name in names.filter({ $0 == first }) + names.filter({ $0 != first }).sorted() {
      switch place(of: try SQLTable.primaryKey(ofTable: name, in: connection)) {
      case .everywhere:
        try connection.query("SELECT create_reference_table('\(name)')", []) { _ in }
      case .database where name == first:
        try connection.query(
          """
          SELECT create_distributed_table('\(name)', 'database_id', colocate_with => 'none',
            shard_count => \(shardCount))
          """, []
        ) { _ in }
      case .database:
        try connection.query(
          """
          SELECT create_distributed_table('\(name)', 'database_id', colocate_with => '\(first)')
          """, []
        ) { _ in }
      }
    }
  }

  /// The names of the store's tables that Citus does not know yet, in no order.
  private static func undistributedTables(of connection: any SQLConnection) throws -> [String] {
    try connection.rows(
      """
      SELECT relname::text FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
        AND NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = pg_class.oid)
      """, []
    ) { $0.text(0) }
  }
}
