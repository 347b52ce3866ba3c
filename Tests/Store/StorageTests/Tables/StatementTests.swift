import Foundation
import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

/// The rules for the statements that the tables' types declare (``Table``).
struct StatementTests {
  /// The tables that have few rows, whatever the store has. A statement may read all of them.
  private static let smallTables: Set = [
    "notification_runs", "push_routes", "servers", "admin_keys", "index_work", "console_sessions",
    "user_deletions", "unfiled_notifications",
  ]

  /// The names of common table expressions.
  private static let commonTables: Set = ["changed", "taken"]

  private static func withSQLite<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
  ) async throws -> Value {
    let store = try await Store.inMemory()
    let value = try await store.transactions.write { transaction in
      try body(try #require(transaction.connection as? SQLiteConnection))
    }
    await store.close()
    return value
  }

  /// The tables whose rows lie with their database on a distributed store.
  private static func distributedTables(_ connection: any SQLConnection) throws -> Set<String> {
    Set(
      try SQLTable.names(connection).filter { name in
        let key = try SQLTable.primaryKey(ofTable: name, in: connection)
        return StoreDistribution.place(of: key) == .database
      })
  }

  // MARK: Tables

  @Test("each table of the store has one type, and each statement names a table of its type")
  func ownership() async throws {
    let tables = try await Self.withSQLite { try SQLTable.names($0) }
    var owners: [String: String] = [:]
    for table in Schema.tables {
      for match in table.definition.compactMap({
        $0.prefixMatch(of: #/CREATE (?:/\*unlogged\*/ )?TABLE ([a-z_]+)/#)
      }) {
        #expect(owners[String(match.1)] == nil)
        owners[String(match.1)] = "\(table)"
      }
    }
    #expect(Set(tables).subtracting(["schema_version", "store_shards"]) == Set(owners.keys))
    #expect(DeclaredStatement.all.count > 450)
    for declared in DeclaredStatement.all {
      guard let owner = declared.owner else { continue }
      let named = StatementRoute(of: declared.text, distributed: []).references.map(\.table)
      let isOwn =
        named.contains { owners[$0] == "\(owner)" } || named.allSatisfy { owners[$0] == nil }
      #expect(isOwn, "\(declared.name) names no table of its type: \(declared.text)")
    }
  }

  @Test("a store runs declared statements alone on its tables")
  func declared() async throws {
    let store = try await Store.inMemory()
    let test = try await TestStore(store)
    _ = try await UserWithEverything.make(in: test, isMarkedInPublic: true)
    _ = try await store.userDeletion.beginUserDeletion(
      named: UserWithEverything.account, publicRecords: .delete, at: TestStore.time(50))
    try await test.continueDeletions()
    try await test.dispatchAll(at: 60)
    try await test.continueDeletions()
    try await store.maintenance.trim(at: TestStore.time(61))
    let run = try await store.transactions.write { transaction in
      Array(((transaction.connection as? SQLiteConnection)?.statements ?? [:]).keys)
    }
    await store.close()
    let tables = Set(
      Schema.tables.flatMap { $0.definition }.compactMap {
        $0.prefixMatch(of: #/CREATE (?:/\*unlogged\*/ )?TABLE ([a-z_]+)/#).map { String($0.1) }
      })
    let declared = Set(DeclaredStatement.all.map(\.statement.text))
    let undeclared = run.filter { text in
      let line = text.replacing(#/\s+/#, with: " ")
      return !declared.contains(text)
        && StatementRoute(of: line, distributed: tables).references.contains {
          tables.contains($0.table)
        }
    }
    #expect(run.count > 150)
    #expect(undeclared == [])
  }

  // MARK: Databases

  @Test("a statement is one node's, unless it says otherwise")
  func routes() async throws {
    let distributed = try await Self.withSQLite { try Self.distributedTables($0) }
    for declared in DeclaredStatement.all {
      let isRouted = StatementRoute(of: declared.text, distributed: distributed).unrouted.isEmpty
      let traits = declared.statement.traits
      #expect(
        isRouted == traits.isDisjoint(with: [.everyDatabase, .undistributed]),
        "\(declared.name): \(declared.text)")
      if traits.contains(.everyDatabase) {
        #expect(declared.text.hasPrefix("SELECT "), "\(declared.name) may only read")
      }
    }
  }

  @Test(
    "a statement that does not name the database of all its rows is found",
    arguments: [
      "SELECT 1 FROM records WHERE record_name = $1",
      "DELETE FROM zones WHERE zone_number = $1",
      "UPDATE records SET content = $2 WHERE record_number = $1",
      "SELECT 1 FROM records JOIN zones ON zones.zone_number = records.zone_number"
        + " WHERE records.database_id = $1",
      "INSERT INTO outbox (sequence, content) VALUES ($1, $2)",
      "INSERT INTO assets (database_id, file) SELECT database_id, file FROM asset_disposals",
      "DELETE FROM zones WHERE database_id = $1 AND zone_number IN (SELECT zone_number FROM records)",
      "DELETE FROM zones USING unnest($1::bigint[]) AS rows (c1) WHERE zone_number = c1",
    ])
  func found(_ statement: String) async throws {
    let distributed = try await Self.withSQLite { try Self.distributedTables($0) }
    #expect(!StatementRoute(of: statement, distributed: distributed).unrouted.isEmpty)
  }

  @Test("what lies with a database is unique within it alone, and depends on nothing else")
  func keys() async throws {
    try await Self.withSQLite { connection in
      let distributed = try Self.distributedTables(connection)
      #expect(distributed.isSuperset(of: ["databases", "records", "outbox", "deliveries"]))
      func names(_ pragma: String, _ argument: String) throws -> [String] {
        try connection.rows("SELECT name FROM \(pragma)($1)", [.text(argument)]) { $0.text(0) }
      }
      for name in try SQLTable.names(connection) {
        let foreignKeys = try connection.rows(
          "SELECT id FROM pragma_foreign_key_list($1)", [.text(name)]
        ) { $0.integer(0) }
        #expect(foreignKeys.isEmpty, "\(name)")
        if distributed.contains(name) {
          let indexes = try connection.rows(
            "SELECT name FROM pragma_index_list($1) WHERE \"unique\" = 1", [.text(name)]
          ) { $0.text(0) }
          for index in indexes {
            let key = try names("pragma_index_info", index)
            #expect(key.contains("database_id"), "\(name): \(key)")
          }
        } else if name != "index_work" {
          // How far the work has come is a place in a database, and no row of it.
          #expect(try !names("pragma_table_info", name).contains("database_id"), "\(name)")
        }
      }
    }
  }

  // MARK: Indexes

  @Test("a statement finds its rows by an index on SQLite, unless it says otherwise")
  func plansOnSQLite() async throws {
    try await Self.withSQLite { connection in
      for declared in DeclaredStatement.all
      where declared.statement.traits.isDisjoint(with: [.onPostgreSQL, .wholeTable]) {
        let steps = try connection.rows(
          "EXPLAIN QUERY PLAN \(declared.statement.text)",
          [SQLValue](repeating: .integer(0), count: Self.argumentCount(of: declared.text))
        ) { $0.text(3) }
        let scanned = Set(
          steps.compactMap { $0.prefixMatch(of: #/SCAN (\w+)/#).map { String($0.1) } })
        Self.expect(declared, scansNone: scanned, steps.joined(separator: "; "))
      }
    }
  }

  @Test("a statement finds its rows by an index on PostgreSQL, unless it says otherwise")
  func plansOnPostgreSQL() async throws {
    let schema = try await PostgreSQLServer.shared.makeStore()
    let connection = try PostgreSQLConnection(to: PostgreSQLAddress(schema.address))
    // The tables are empty, so the planner would read all of them. A plan for any arguments does not
    // depend on these.
    try connection.execute(
      """
      SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
      SET plan_cache_mode = force_generic_plan
      """)
    for (number, declared) in DeclaredStatement.all.enumerated()
    where declared.statement.traits.isDisjoint(with: [.onSQLite, .wholeTable]) {
      do {
        // PostgreSQL does not see from the text of this one what its arguments are.
        let types =
          declared.name == "SharedLimitTable.draw"
          ? "(bytea, bigint, bigint, bigint, bigint, bigint, bigint)" : ""
        try connection.execute("PREPARE declared_\(number) \(types) AS \(declared.statement.text)")
        let count = Self.argumentCount(of: declared.text)
        let arguments =
          count == 0 ? "" : "(\([String](repeating: "NULL", count: count).joined(separator: ", ")))"
        let plan = try connection.rows(
          "EXPLAIN (FORMAT JSON) EXECUTE declared_\(number)\(arguments)", []
        ) { $0.text(0) }.joined()
        let tree = try JSONSerialization.jsonObject(with: Data(plan.utf8))
        Self.expect(declared, scansNone: PlanNode.scannedTables(in: tree), plan)
      } catch {
        Issue.record("\(declared.name): \(error)")
      }
    }
    connection.close()
    try await PostgreSQLServer.shared.drop(schema)
  }

  private static func argumentCount(of text: String) -> Int {
    text.matches(of: #/\$(\d+)/#).compactMap { Int($0.1) }.max() ?? 0
  }

  /// - Parameter scanned: the tables of which the plan reads all rows, or what the statement calls them.
  private static func expect(
    _ declared: DeclaredStatement, scansNone scanned: Set<String>, _ plan: String
  ) {
    let references = StatementRoute(of: declared.text, distributed: []).references
    let large = references.filter {
      !smallTables.contains($0.table) && !commonTables.contains($0.table)
        && !scanned.isDisjoint(with: [$0.table, $0.alias])
    }
    #expect(large.isEmpty, "\(declared.name) reads all of a table: \(declared.text) – \(plan)")
  }
}

/// A node of a plan as PostgreSQL's `EXPLAIN (FORMAT JSON)` gives it.
private enum PlanNode {
  /// The tables of which all rows are read: without an index, or along one without a condition.
  static func scannedTables(in tree: Any) -> Set<String> {
    if let list = tree as? [Any] {
      return list.reduce(into: []) { $0.formUnion(scannedTables(in: $1)) }
    }
    guard let node = tree as? [String: Any] else { return [] }
    var scanned = node.values.reduce(into: Set<String>()) { $0.formUnion(scannedTables(in: $1)) }
    let kind = node["Node Type"] as? String ?? ""
    let isScan =
      kind == "Seq Scan"
      || (kind.contains("Index") && kind.hasSuffix("Scan") && node["Index Cond"] == nil)
    if isScan, let table = node["Relation Name"] as? String { scanned.insert(table) }
    return scanned
  }
}
