import CloudKitModel
import Testing

@testable import SQLEngine
@testable import Storage

struct StatementRouteTests {
  /// The statements that may reach every node, by their beginnings. All of them only read, and no
  /// client that saves, reads or subscribes waits for them.
  private static let scans = [
    // Deliveries that wait: their server is gone, or their time has come.
    "SELECT database_id, number FROM deliveries WHERE state = 0 AND route = $1 AND due <= $2",
    "SELECT due FROM deliveries WHERE state = 0 AND route = $1 AND due > $2",
    "SELECT deliveries.database_id, deliveries.number FROM deliveries JOIN push_routes",
    // Leases of a server, those that others wait for, and those of servers that are gone.
    "SELECT ? FROM dispatch_leases WHERE holder = $1",
    "SELECT database_id, holder FROM dispatch_leases WHERE database_id > $1 AND parts = 1 AND NOT",
    "SELECT ? FROM dispatch_leases WHERE parts > 1",
    // What is too old, or too much.
    "SELECT ? FROM notification_log AS entries WHERE logged < $1",
    "SELECT DISTINCT subscriber FROM ( SELECT subscriber FROM notification_index GROUP BY",
    "SELECT logged, database_id, sequence, bytes FROM notification_runs CROSS JOIN notification_index",
    "SELECT ? FROM notification_runs CROSS JOIN notification_index AS entries",
    "SELECT ? FROM notification_marks WHERE marked < $1",
    "SELECT subscriber FROM notification_marks GROUP BY subscriber HAVING",
    "SELECT marked, database_id, position FROM notification_marks WHERE subscriber = $1",
    "SELECT ? FROM notification_marks WHERE subscriber = $1",
    "SELECT database_id, number FROM deliveries WHERE (state <> 0 AND updated < $1)",
    "SELECT database_id, number FROM refused_pushes WHERE refused < $1",
    "SELECT database_id, MAX(version) FROM subscription_deletions WHERE deleted < $1",
    "SELECT database_id, zone_number, MAX(version) FROM tombstones WHERE deleted < $1",
    "SELECT database_id, zone_number, MAX(version) FROM departures WHERE departed < $1",
    "SELECT database_id, MAX(version) FROM zone_tombstones WHERE deleted < $1",
    "SELECT database_id, zone_number, user_record_name, device_id FROM client_change_tokens",
    "SELECT database_id, requester, request_id FROM answered_requests WHERE answered < $1",
    "SELECT database_id, through, changes, dispatched, settled_subscriber FROM dispatches",
    "SELECT ? FROM asset_uploads WHERE expires <= $1",
    "SELECT database_id, checksum, file FROM assets WHERE released IS NOT NULL",
    "SELECT database_id, file FROM asset_disposals LIMIT $1",
    // Of the folder of assets, once when a server starts.
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM assets) OR EXISTS (SELECT 1 FROM asset_uploads)",
    // Of a store that is moved, which nobody has open.
    "SELECT 1 FROM unfiled_notifications LIMIT 1",
    // For people and metrics.
    "SELECT refused_pushes.database_id, refused_pushes.number, refused, reason, payload",
    "SELECT COUNT(*) FROM deliveries WHERE state = 0",
    "SELECT holder, COUNT(*), COUNT(CASE WHEN wake_up = 1 THEN 1 END) FROM dispatch_leases",
    "SELECT database_id, share_number FROM shares WHERE (database_id, share_number) > ($1, $2)",
    "SELECT COUNT(*) FROM shares",
    "SELECT COUNT(CASE WHEN joined = 0 THEN 1 END), COUNT(CASE WHEN joined > 0 THEN 1 END) FROM"
      + " participants WHERE ended = 0",
    "SELECT DISTINCT database_id, share_number FROM participants WHERE user_record_name = $1",
    // Nobody's but tests' and benchmarks'.
    "SELECT database_id FROM outbox GROUP BY database_id ORDER BY database_id",
    "SELECT database_id FROM participants WHERE user_record_name = $1 AND database_id > $2",
    // What is shared with one user, by an index; its owners' databases are anywhere.
    "SELECT DISTINCT database_id, zone_number FROM participants WHERE user_record_name = $1",
    "SELECT DISTINCT participants.database_id, participants.zone_number FROM participants JOIN",
    "SELECT database_id FROM share_requests WHERE user_record_name = $1 AND database_id > $2",
    DeliveryRow.selection.replacing(#/\s+/#, with: " ") + " WHERE deliveries.state = 0",
  ]

  /// The statements that a distributed store does not execute, by their beginnings, and beginnings
  /// of others.
  private static let notAsked = [
    // A store in which one transaction takes deliveries of all databases.
    "SELECT \(DueDelivery.columns) FROM deliveries WHERE state = 0 AND route = $1",
    // A store in which one transaction takes all wake-ups.
    "WITH taken AS ( UPDATE dispatch_leases SET wake_up = 0 WHERE (database_id, part) IN",
    // Engines that one server has to itself file notifications later.
    "WITH RECURSIVE changed (database_id) AS",
    "DELETE FROM unfiled_notifications",
    "SELECT generation, database_id FROM unfiled_notifications",
    "SELECT subscriber, notification_log.database_id, sequence, logged, origin_device",
    "DELETE FROM notification_index WHERE run IN (SELECT run FROM notification_runs WHERE merging",
    "SELECT subscriber FROM notification_index WHERE run = $1",
    // Rows of several databases at once. A distributed store has them one by one.
    "DELETE FROM tombstones USING ?", "DELETE FROM records USING ?",
    "DELETE FROM value_index USING ?", "UPDATE records SET version = c3",
    "UPDATE zones SET version = c3", "UPDATE databases SET stored_bytes = stored_bytes + c3",
    "SELECT ? FROM dispatch_leases WHERE database_id = ANY",
    "UPDATE dispatch_leases SET wake_up = 1 FROM",
    "SELECT last_number, subscription_version, stored_bytes, database_id FROM databases",
    "SELECT 1 / CASE WHEN last_number = c2", "SELECT c1, ( SELECT COUNT(*) FROM outbox",
    "SELECT c5, zones.zone_number, records.record_number",
    "SELECT database_id FROM records",
    "SELECT ?, deliveries.database_id, deliveries.number, deliveries.route",
  ]

  private static let known = (scans + notAsked).compactMap { try? StatementCheck.Pattern($0 + "?") }

  /// Whether a statement may ask every node, or is not asked of a distributed store.
  static func isKnown(_ statement: String) -> Bool {
    known.contains { statement.wholeMatch(of: $0.regex) != nil }
  }

  private static func tables<Value: Sendable>(
    _ read: @escaping @Sendable (any SQLConnection, String) throws -> Value?
  ) async throws -> [(name: String, value: Value)] {
    let store = try await Store.inMemory()
    let tables = try await store.transactions.read { transaction in
      try SQLTable.names(transaction.connection).compactMap { name in
        try read(transaction.connection, name).map { (name: name, value: $0) }
      }
    }
    await store.close()
    return tables
  }

  static func distributedTables() async throws -> Set<String> {
    Set(
      try await tables { connection, name in
        let key = try SQLTable.primaryKey(ofTable: name, in: connection)
        return StoreDistribution.place(of: key) == .database ? true : nil
      }.map(\.name))
  }

  @Test("every statement is one node's, but for scans that are known")
  func statements() async throws {
    let distributed = try await Self.distributedTables()
    var unseen = Set(Self.scans + Self.notAsked)
    let statements = try SourceStatement.all()
    #expect(statements.count > 300)
    for statement in statements {
      let route = StatementRoute(of: statement.text, distributed: distributed)
      if route.unrouted.isEmpty { continue }
      let known = (Self.scans + Self.notAsked).filter { statement.text.hasPrefix($0) }
      #expect(!known.isEmpty, "\(statement.file): \(statement.text)")
      unseen.subtract(known)
    }
    #expect(unseen.isEmpty)
    #expect(Self.scans.allSatisfy { $0.hasPrefix("SELECT ") })
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
    ])
  func found(_ statement: String) async throws {
    let distributed = try await Self.distributedTables()
    #expect(!StatementRoute(of: statement, distributed: distributed).unrouted.isEmpty)
  }

  @Test("what lies with a database is unique within it alone, and depends on nothing else")
  func keys() async throws {
    let distributed = try await Self.distributedTables()
    #expect(distributed.isSuperset(of: ["databases", "records", "outbox", "deliveries"]))
    let tables = try await Self.tables { connection, name in
      let indexes = try connection.rows(
        "SELECT name FROM pragma_index_list($1) WHERE \"unique\" = 1", [.text(name)]
      ) { $0.text(0) }
      let keys = try indexes.map { index in
        try connection.rows("SELECT name FROM pragma_index_info($1)", [.text(index)]) {
          $0.text(0)
        }
      }
      let foreignKeys = try connection.rows(
        "SELECT id FROM pragma_foreign_key_list($1)", [.text(name)]
      ) { $0.integer(0) }
      let columns = try connection.rows("SELECT name FROM pragma_table_info($1)", [.text(name)]) {
        $0.text(0)
      }
      return (keys: keys, foreignKeys: foreignKeys.count, columns: columns)
    }
    for (name, value) in tables {
      #expect(value.foreignKeys == 0, "\(name)")
      if distributed.contains(name) {
        for key in value.keys { #expect(key.contains("database_id"), "\(name): \(key)") }
      } else if name != "index_work" {
        // How far the work has come is a place in a database, and no row of it.
        #expect(!value.columns.contains("database_id"), "\(name)")
      }
    }
  }
}
