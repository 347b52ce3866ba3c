import Foundation
import PostgreSQLTesting
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

struct PostgreSQLStoreTests {
  private func withLocation(_ body: (StoreLocation, PostgreSQLServer) async throws -> Void)
    async throws
  {
    try await PostgreSQLServer.withServer { server in
      let schema = try await server.makeSchema()
      try await body(.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil), server)
    }
  }

  @Test("several servers have it open at a time, and tools beside them")
  func severalServers() async throws {
    try await withLocation { location, _ in
      #expect(try await Store.isServed(at: location) == false)
      let first = try await Store.open(at: location)
      let second = try await Store.open(at: location)
      let tool = try await Store.open(
        at: location, configuration: StoreConfiguration(role: .tool))
      _ = try await tool.accounts.addUser(named: "anna", at: .now)
      #expect(try await first.accounts.users().map(\.name) == ["anna"])
      #expect(try await second.accounts.users().map(\.name) == ["anna"])
      await first.close()
      #expect(try await Store.isServed(at: location))
      await second.close()
      try await eventually("PostgreSQL has noticed") {
        try await !Store.isServed(at: location)
      }
      await tool.close()
    }
  }

  @Test("a distributed store is not opened where the extension is gone, and nothing is changed")
  func withoutExtension() async throws {
    try await withLocation { location, _ in
      guard case .postgreSQL(let address, _) = location else { return }
      let refused = await #expect(throws: StoreError.self) {
        try await StoreDistribution.begin(at: address, shardCount: 4)
      }
      #expect(refused?.reason.contains("the extension Citus") == true)
      #expect(try await PostgreSQLExamination.look(at: address).schemaVersion == nil)
      let store = try await Store.open(at: location)
      _ = try await store.accounts.addUser(named: "anna", at: .now)
      try await store.transactions.write {
        _ = try $0.connection.run("INSERT INTO store_shards (shard_count) VALUES (32)", [])
      }
      await store.close()
      #expect(await storeError { _ = try await Store.open(at: location) } == .cannotOpen)
      let found = try await PostgreSQLExamination.look(at: address)
      #expect(found.spread == StoreDistribution.Spread(shardCount: 32, nodeCount: 0))
    }
  }

  @Test("nobody moves it while a server has it open")
  func moving() async throws {
    try await withLocation { location, _ in
      let server = try await Store.open(at: location)
      try await withTemporaryDirectory { directory in
        let refusal = await #expect(throws: StoreError.self) {
          _ = try await StoreMove.run(from: location, to: .file(path: directory + "/store"))
        }
        #expect(refusal?.code == .cannotOpen)
        #expect(refusal?.reason.hasPrefix("a server has the store at") == true)
        await server.close()
        _ = try await StoreMove.run(from: location, to: .file(path: directory + "/store"))
      }
    }
  }

  @Test("a transaction that ends a deadlock is done again")
  func deadlock() async throws {
    try await withLocation { location, server in
      let store = try await Store.open(at: location)
      try await store.transactions.write {
        try $0.connection.execute("CREATE TABLE tug (id BIGINT PRIMARY KEY, pulls BIGINT NOT NULL)")
        try $0.connection.execute("INSERT INTO tug VALUES (1, 0), (2, 0)")
      }
      guard case .postgreSQL(let address, _) = location else { return }
      let otherHolds = DispatchSemaphore(value: 0)
      let storeHolds = DispatchSemaphore(value: 0)
      async let other: Void = Store.onThread {
        let connection = try PostgreSQLConnection(to: address)
        defer { connection.close() }
        // The store's side is the one that notices.
        try connection.execute("SET deadlock_timeout = '60s'")
        try connection.execute("BEGIN; UPDATE tug SET pulls = pulls + 1 WHERE id = 2")
        otherHolds.signal()
        storeHolds.wait()
        try connection.execute("UPDATE tug SET pulls = pulls + 1 WHERE id = 1; COMMIT")
      }
      let attempts = Mutex(0)
      try await store.transactions.write { transaction in
        let isFirst = attempts.withLock { attempts in
          attempts += 1
          return attempts == 1
        }
        if isFirst { otherHolds.wait() }
        try transaction.connection.run("UPDATE tug SET pulls = pulls + 1 WHERE id = 1", [])
        if isFirst { storeHolds.signal() }
        try transaction.connection.run("UPDATE tug SET pulls = pulls + 1 WHERE id = 2", [])
      }
      try await other
      #expect(attempts.withLock { $0 } > 1)
      let pulls = try await store.transactions.read {
        try $0.connection.rows("SELECT pulls FROM tug", []) { $0.integer(0) }
      }
      #expect(pulls == [2, 2])
      await store.close()
    }
  }

  @Test(
    "a user's log is read, and trimmed, without a look at those of others",
    arguments: [true, false])
  func othersLogs(isNew: Bool) async throws {
    try await withLocation { location, _ in
      var store = try await Store.open(at: location)
      if !isNew {
        // The table lacks the later statements of its definition, as in a store of an earlier
        // version or from a dump.
        try await store.transactions.write {
          _ = try $0.connection.run("DROP TABLE notification_runs", [])
          for statement in NotificationIndexTable.definition.prefix(2) {
            _ = try $0.connection.run(Statement(statement), [])
          }
        }
        await store.close()
        store = try await Store.open(at: location)
      }
      try await store.transactions.write {
        _ = try $0.connection.run(
          """
          INSERT INTO notification_index
          SELECT 0, 'user' || number % 100, 1, number, number, NULL, decode('00', 'hex'), 0
          FROM generate_series(1, 20000) AS number
          """, [])
      }
      let (overfull, cut) = try await store.transactions.write {
        let index = NotificationIndexTable(transaction: $0)
        return (
          try index.overfull(keeping: 100, bytes: .max),
          try #require(try index.cut(of: "user7", keeping: 100, bytes: .max))
        )
      }
      #expect(overfull.contains("user7"))
      let looked = try await store.transactions.write { transaction in
        // Rows that this connection has not reported to others yet count as well.
        let before = try Self.rowsReadInOrder(transaction)
        let index = NotificationIndexTable(transaction: transaction)
        let database = DatabaseID(rawValue: 1)
        #expect(try index.entries(of: "user7", in: database, withIDs: [[0]]).count == 200)
        let old = try index.entries(through: cut)
        #expect(try LogTrimming(in: transaction).drop(entries: old) == 100)
        return try Self.rowsReadInOrder(transaction) - before
      }
      #expect(looked == 0)
      await store.close()
    }
  }

  @Test("a table that cannot be analyzed is told of, and the others are, whatever they are called")
  func tablesOfOthers() async throws {
    try await withLocation { location, _ in
      var store = try await Store.open(at: location)
      try await store.transactions.write { transaction in
        for statement in [
          "DROP TABLE notification_runs", NotificationIndexTable.definition[0],
          NotificationIndexTable.definition[1],
          #"CREATE TABLE "A table; not Petrel's" AS SELECT 1 AS number"#,
          // To make an index is to look at its table, so there are no rows yet.
          "CREATE TABLE broken (number integer)",
          """
          CREATE FUNCTION breaks(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql
          AS 'BEGIN RETURN 1; END'
          """,
          "CREATE INDEX ON broken (breaks(number))", "INSERT INTO broken VALUES (1)",
          """
          CREATE OR REPLACE FUNCTION breaks(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql
          AS 'BEGIN RAISE ''it is broken''; END'
          """,
        ] { _ = try transaction.connection.run(Statement(statement), []) }
      }
      await store.close()
      let told = Mutex<[String: String]>([:])
      var configuration = StoreConfiguration()
      configuration.onUnknownTable = { table, error in
        told.withLock { $0[table] = "\(error)" }
      }
      store = try await Store.open(at: location, configuration: configuration)
      #expect(told.withLock { Array($0.keys) } == ["broken"])
      #expect(told.withLock { $0["broken"]?.contains("it is broken") ?? false })
      let known = try await store.transactions.read {
        try $0.connection.rows(
          """
          SELECT relname::text FROM pg_class
          WHERE relnamespace = current_schema()::regnamespace AND reltuples > 0
            AND relname IN ('A table; not Petrel''s', 'broken', 'notification_runs')
          ORDER BY relname COLLATE "C"
          """, []
        ) { $0.text(0) }
      }
      #expect(known == ["A table; not Petrel's", "notification_runs"])
      await store.close()
    }
  }

  @Test("a new store has statistics of the tables that it fills")
  func growth() async throws {
    try await ServerGroup.with(servers: 1) {
      $0.writers = 1
    } _: { group in
      for number in 0..<20 { try await group.servers[0].save("n\(number)") }
      let store = group.store(0)
      let rows = try await store.transactions.read {
        try $0.connection.first(
          """
          SELECT reltuples::bigint FROM pg_class
          WHERE relnamespace = current_schema()::regnamespace AND relname = 'records'
          """, []
        ) { $0.integer(0) }
      }
      #expect(try #require(rows) > 0)
    }
  }

  /// How many rows of the notification log's index this connection has read without looking them up.
  private static func rowsReadInOrder(_ transaction: StoreTransaction) throws -> Int64 {
    let rows = try transaction.connection.first(
      """
      SELECT seq_tup_read::bigint FROM pg_stat_xact_user_tables
      WHERE relname = 'notification_index'
      """, []
    ) { $0.integer(0) }
    return try #require(rows)
  }

  @Test("tells what its tables take, without keeping anybody waiting")
  func sizes() async throws {
    try await withLocation { location, server in
      let store = try await Store.open(at: location)
      // Nobody waits for the first look.
      #expect(await store.fileSizes() == nil)
      try await eventually("the tables were looked at") { await store.fileSizes() != nil }
      let sizes = try #require(await store.fileSizes())
      #expect(sizes.database > 100_000)
      #expect(sizes.free == nil && sizes.writeAheadLog == nil)
      // It is that answer for a while, also when PostgreSQL is away.
      try await server.stop()
      #expect(await store.fileSizes() == sizes)
      try await server.startAgain()
      await store.close()
    }
  }

  @Test("a commit after a statement that failed is not taken for one")
  func failedStatement() async throws {
    try await withLocation { location, _ in
      let store = try await Store.open(at: location)
      let failure = await #expect(throws: StoreError.self) {
        try await store.transactions.write { transaction in
          _ = try transaction.connection.run(
            """
            INSERT INTO users (name, folded_name, user_record_name, created)
            VALUES ('a', 'a', 'a', 0)
            """, [])
          _ = try? transaction.connection.run("NO STATEMENT", [])
        }
      }
      #expect(failure?.code == .statementFailed)
      #expect(try await store.accounts.users().isEmpty)
      await store.close()
    }
  }

  @Test("of a commit that was cut is told that it is in doubt")
  func doubt() async throws {
    try await withLocation { location, server in
      let store = try await Store.open(at: location)
      let doubts = Mutex(0)
      store.outbox.setDoubtHandler { doubts.withLock { $0 += 1 } }
      try await server.stop()
      await #expect(throws: StoreError.self) { try await store.checkWriting() }
      #expect(doubts.withLock { $0 } == 0)
      try await server.startAgain()
      // Nobody writes: it looks by itself whether the server is back.
      try await eventually("the doubt is over") { doubts.withLock { $0 } == 1 }
      try await store.checkWriting()
      #expect(doubts.withLock { $0 } == 1)
      await store.close()
    }
  }

  @Test(
    "no word about an address has its password",
    arguments: [
      "postgres://u:geheim@h:1/db?nonsense=1", "postgres://u:geheim@[::1/db",
      "postgres://u:ge%ZZheim@h/db", "mysql://u:geheim@h/db", "postgres://u:geheim@h:port/db",
      "postgres://u:geheim@127.0.0.1:1/db?connect_timeout=2",
      "postgres://h/db?password=geheim&nonsense",
    ])
  func password(_ text: String) async throws {
    do {
      let address = try PostgreSQLAddress(text)
      #expect(!"\(address)".contains("geheim"))
      _ = try await Store.open(at: .postgreSQL(address, assets: nil))
      Issue.record("there is none")
    } catch {
      #expect(!"\(error)".contains("heim"), "\(error)")
    }
  }

  @Test("an examination shows what a server depends on")
  func examination() async throws {
    try await withLocation { location, _ in
      guard case .postgreSQL(let address, _) = location else { return }
      var found = try await PostgreSQLExamination.look(at: address)
      #expect(found.version >= PostgreSQLExamination.oldestVersion && found.encoding == "UTF8")
      #expect(found.unsafeSettings == ["fsync"] && !found.isStandby)
      #expect(found.schemaVersion == nil && !found.isServed)
      #expect(found.connectionLimit > 0 && found.usedConnections > 0)
      let store = try await Store.open(at: location)
      found = try await PostgreSQLExamination.look(at: address)
      #expect(found.schemaVersion == StoreExamination.newestVersion && found.isServed)
      await store.close()
    }
  }
}
