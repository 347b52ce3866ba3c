import SQLEngine
import StoreModel

/// The distribution of a store over several nodes by Citus, an extension of PostgreSQL. A node is
/// one PostgreSQL server.
///
/// All rows of one database are on one node. The tables whose primary key has the column
/// `database_id` are divided by it into shards, all in the same way. All other tables are small,
/// and each node has a copy of them (Citus calls them reference tables). A statement about one
/// database therefore runs on one node. So does a transaction that writes to one database, except
/// for its writes to the small tables.
public enum StoreDistribution {
  static let definition = ["CREATE TABLE store_shards (shard_count BIGINT PRIMARY KEY)"]

  /// The default number of shards, as in Citus.
  public static let standardShardCount = 32
  /// The permitted numbers of shards of each distributed table.
  public static let shardCounts = 1...4_096

  private static let first = "databases"

  /// The present division of a store.
  public struct Spread: Sendable, Hashable {
    /// The number of shards that the store was distributed with.
    public var shardCount: Int
    /// The active nodes that may have shards; 0 if the database no longer has the extension.
    public var nodeCount: Int
  }

  /// The location of a table's rows.
  enum Place: Equatable {
    /// On the node of their database.
    case database
    /// On every node.
    case everywhere
  }

  static func place(of key: some Sequence<String>) -> Place {
    key.contains("database_id") ? .database : .everywhere
  }

  /// Creates a distributed store, or distributes an existing store and keeps its data. The caller
  /// must ensure that no server has the store open. Petrel cannot change the number of shards
  /// later.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the database does not have Citus, or the store is
  ///   already distributed; the errors of ``Migration/apply(_:to:)``. The distribution is unchanged
  ///   then.
  public static func begin(at address: PostgreSQLAddress, shardCount: Int) async throws {
    try await Store.onThread {
      let connection = try PostgreSQLConnection(
        to: address,
        settings: PostgreSQLConnection.Settings(statementTimeout: 0, serving: .alone))
      defer { connection.close() }
      try checkExtension(of: connection)
      try Migration.apply(Schema.migrations, to: connection)
      try begin(over: connection, shardCount: shardCount)
    }
  }

  static func begin(over connection: any SQLConnection, shardCount: Int) throws {
    try checkExtension(of: connection)
    guard try !isMarked(connection) else {
      throw StoreError(.cannotOpen, "the store at \(connection.name) is distributed already")
    }
    try inOneTransaction(over: connection) {
      try connection.run("INSERT INTO store_shards (shard_count) VALUES ($1)", [.count(shardCount)])
      try distributeTables(of: connection)
    }
  }

  /// Distributes the tables that migrations added. Returns whether the store is distributed.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the store is distributed, and the database does
  ///   not have Citus.
  static func complete(over connection: any SQLConnection) throws -> Bool {
    guard connection.kind == .postgreSQL, try isMarked(connection) else {
      return false
    }
    try checkExtension(of: connection)
    if try !undistributedTables(of: connection).isEmpty {
      try inOneTransaction(over: connection) { try distributeTables(of: connection) }
    }
    return true
  }

  package static func spread(over connection: any SQLConnection) throws -> Spread? {
    guard let shardCount = try shardCount(of: connection) else { return nil }
    guard try hasExtension(connection) else {
      return Spread(shardCount: shardCount, nodeCount: 0)
    }
    let nodeCount = try connection.integer(
      "SELECT COUNT(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards", [])
    return Spread(shardCount: shardCount, nodeCount: Int(nodeCount ?? 0))
  }

  private static func isMarked(_ connection: any SQLConnection) throws -> Bool {
    try shardCount(of: connection) != nil
  }

  private static func shardCount(of connection: any SQLConnection) throws -> Int? {
    let isThere = try connection.integer("SELECT to_regclass('store_shards') IS NOT NULL", [])
    guard isThere == 1 else { return nil }
    return try connection.integer("SELECT shard_count FROM store_shards", []).map { Int($0) }
  }

  private static func hasExtension(_ connection: any SQLConnection) throws -> Bool {
    try connection.exists("SELECT 1 FROM pg_extension WHERE extname = 'citus'", [])
  }

  private static func checkExtension(of connection: any SQLConnection) throws {
    if try hasExtension(connection) { return }
    throw StoreError(
      .cannotOpen,
      "the database at \(connection.name) does not have the extension Citus, which a distributed "
        + "store needs; install and preload Citus in PostgreSQL, and run CREATE EXTENSION citus")
  }

  private static func inOneTransaction(
    over connection: any SQLConnection, _ body: () throws -> Void
  ) throws {
    try Migration.begin(on: connection)
    try connection.committing {
      // Citus must use one connection to each node, because other connections do not see new tables
      // before the commit.
      try connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
      try body()
    }
  }

  private static func distributeTables(of connection: any SQLConnection) throws {
    let shardCount = try shardCount(of: connection) ?? standardShardCount
    let names = try undistributedTables(of: connection)
    // The other tables are divided like the first one, so the first one must exist as a distributed
    // table.
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

  /// Returns the tables that are neither distributed nor reference tables.
  private static func undistributedTables(of connection: any SQLConnection) throws -> [String] {
    try connection.texts(
      """
      SELECT relname::text FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
        AND NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = pg_class.oid)
      """, []
    )
  }
}
