import SQLEngine
import StoreModel

/// The spread of a store over the nodes of Citus, PostgreSQL's extension for several servers.
///
/// All rows of one database lie on one node: the tables whose primary key has `database_id` are
/// distributed by it, in one group of shards. All others are small, and every node has them (reference
/// tables). So a statement that names its database is one node's, and a transaction that writes to one
/// database is as well, but for what it adds to the small tables.
///
/// The functions that do so are Citus's `create_distributed_table` and `create_reference_table`.
public enum StoreDistribution {
  /// Has a row where the store is distributed.
  static let definition = ["CREATE TABLE store_shards (shard_count BIGINT PRIMARY KEY)"]

  /// What a store is distributed into where nobody says otherwise, as Citus has it.
  public static let standardShardCount = 32
  /// So many shards at most: each is a table of its own for every table of the store.
  public static let shardCounts = 1...4_096

  /// The table that the others lie with.
  private static let first = "databases"

  /// Over what a store is distributed.
  public struct Spread: Sendable, Hashable {
    public var shardCount: Int
    /// The nodes that have shards; 0 where the extension is gone.
    public var nodeCount: Int
  }

  /// Where a table's rows lie.
  enum Place: Equatable {
    /// With their database.
    case database
    /// On every node.
    case everywhere
  }

  /// Where the rows of a table with this primary key lie.
  static func place(of key: some Sequence<String>) -> Place {
    key.contains("database_id") ? .database : .everywhere
  }

  /// Makes a store that is distributed, or distributes one that is not. Nobody may have it open; what it
  /// has is kept.
  ///
  /// - Parameter shardCount: into how many shards; see ``shardCounts``. It can't be changed by Petrel
  ///   later.
  /// - Throws: ``StoreError/Code/cannotOpen`` when the database has no Citus, a server has the store open,
  ///   or it is distributed already. Nothing is changed then.
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

  /// Distributes a store that is not. Nobody may have it open; what it has is kept.
  ///
  /// - Parameter shardCount: into how many shards; see ``shardCounts``. It can't be changed by Petrel
  ///   later.
  /// - Throws: ``StoreError/Code/cannotOpen`` when the database has no Citus, or the store is distributed
  ///   already.
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

  /// Distributes the tables that a distributed store has got since, and tells whether it is one.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` when it is and the database has no Citus.
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

  /// Nil for a store that is not distributed.
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

  private static func isMarked(_ connection: any SQLConnection) throws -> Bool {
    try shardCount(of: connection) != nil
  }

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

  private static func hasExtension(_ connection: any SQLConnection) throws -> Bool {
    try connection.first("SELECT 1 FROM pg_extension WHERE extname = 'citus'", []) { _ in true }
      ?? false
  }

  private static func checkExtension(of connection: any SQLConnection) throws {
    if try hasExtension(connection) { return }
    throw StoreError(
      .cannotOpen,
      "the database at \(connection.name) has no Citus, which a distributed store needs: "
        + "CREATE EXTENSION citus makes it where the server has it installed and preloaded")
  }

  private static func inOneTransaction(
    over connection: any SQLConnection, _ body: () throws -> Void
  ) throws {
    try Migration.begin(on: connection)
    do {
      // What is made on one connection to a node is not seen on another before the commit.
      try connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
      try body()
      try connection.commit()
    } catch {
      connection.giveUpTransaction()
      throw error
    }
  }

  /// Whoever has done it before.
  private static func distributeTables(
    of connection: any SQLConnection, shardCount: Int
  ) throws {
    let names = try undistributedTables(of: connection)
    // The others come to lie with the first.
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
