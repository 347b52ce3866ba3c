import Foundation
import PostgreSQLTesting
import StoreModel
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage

/// A store behind PgBouncer.
@Suite(
  // A Citus of somebody's has no socket here for the pooler.
  .enabled(if: Pooler.isInstalled && PostgreSQLServer.citus == nil, "run 'make tools'"))
struct PoolerTests {
  private func withPooler(
    _ settings: String, _ body: (PostgreSQLAddress, PostgreSQLAddress) async throws -> Void
  ) async throws {
    let schema = try await PostgreSQLServer.shared.makeStore()
    let pooler = try Pooler(
      before: try await PostgreSQLServer.shared.socket, settings: settings)
    try await eventually("PgBouncer listens") { pooler.isListening }
    do {
      try await body(
        PostgreSQLAddress(pooler.address(of: schema.name)), PostgreSQLAddress(schema.address))
    } catch {
      pooler.end()
      throw error
    }
    pooler.end()
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test(
    "a store behind a pooler that shares sessions is not opened, and the reason says what to set",
    arguments: ["transaction", "statement"],
    ["", "server_round_robin = 1", "default_pool_size = 1"])
  func shared(mode: String, more: String) async throws {
    try await withPooler("pool_mode = \(mode)\n\(more)") { address, direct in
      let refusal = await #expect(throws: StoreError.self) {
        try await Store.open(at: .postgreSQL(address, assets: nil)).close()
      }
      #expect(refusal?.code == .cannotOpen)
      #expect(refusal?.reason.contains("pool_mode = session") == true, "\(refusal?.reason ?? "")")
      let isServed = try await Store.isServed(at: .postgreSQL(direct, assets: nil))
      #expect(!isServed)
    }
  }

  @Test("behind one that gives each connection a session, a server does all its work")
  func ownSessions() async throws {
    try await withPooler("pool_mode = session") { address, direct in
      let store = try await Store.open(at: .postgreSQL(address, assets: nil))
      _ = try await store.accounts.addUser(named: "anna", at: .now)
      #expect(try await store.accounts.users().map(\.name) == ["anna"])
      let heard = Flag()
      store.servers?.setNotificationHandler {
        if case .joined = $0 { heard.raise() }
      }
      try await eventually("a notification arrives") {
        try await store.servers?.announceMembership(of: ServerID(rawValue: 1))
        return heard.isUp
      }
      await store.close()
    }
  }

  @Test("behind it, the session of a lost connection is ended before another one reads")
  func lostSession() async throws {
    try await withPooler("pool_mode = session") { address, direct in
      let outage = PostgreSQLOutage()
      var settings = PostgreSQLConnection.Settings()
      settings.outage = outage
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      let observer = try PostgreSQLConnection(to: direct)
      defer {
        connection.close()
        observer.close()
      }
      try observer.execute("SELECT pg_advisory_lock(7)")
      try connection.beginWriting()
      let number = try connection.first("SELECT pg_backend_pid()::int8", []) { $0.integer(0) } ?? 0
      try connection.runLater("SELECT pg_advisory_xact_lock(7)", [])
      // The pooler closes its connection; PostgreSQL does not notice while the session waits.
      connection.exchange.flush()
      let waiting: Statement = """
        SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted
        """
      try await eventually("the session waits") {
        try observer.first(waiting, []) { $0.integer(0) } == 1
      }
      shutdown(connection.socket, Int32(SHUT_RDWR))
      #expect(throws: StoreError.self) { try connection.commit() }
      try connection.beginReading()
      let isThere = try observer.first(
        "SELECT 1 FROM pg_stat_activity WHERE pid = $1::int8", [.integer(number)]
      ) { _ in true }
      #expect(isThere == nil)
      try connection.rollback()
    }
  }
}
