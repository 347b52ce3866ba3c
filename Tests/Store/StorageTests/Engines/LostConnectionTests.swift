import Foundation
import PostgreSQLTesting
import ProxySimulation
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage

/// Connections to PostgreSQL that a proxy cuts or holds, while PostgreSQL goes on.
struct LostConnectionTests {
  /// A schema of PostgreSQL, with the ways to it.
  private struct Place {
    let schema: PostgreSQLServer.Schema
    let proxy: HoldingProxy

    var direct: PostgreSQLAddress {
      get throws { try PostgreSQLAddress(schema.address) }
    }
    var overProxy: PostgreSQLAddress {
      get throws {
        try PostgreSQLAddress(schema.address(overPort: proxy.port) + "&connect_timeout=2")
      }
    }

    func silence() {
      for direction in HoldingProxy.Direction.allCases { proxy.hold(direction) }
    }
  }

  private func withPlace(_ body: (Place) async throws -> Void) async throws {
    let server = PostgreSQLServer.shared
    let place = Place(
      schema: try await server.makeSchema(),
      proxy: try HoldingProxy(to: .socket(path: try await server.socket)))
    defer { place.proxy.close() }
    try await body(place)
    place.proxy.release()
    try await server.drop(place.schema)
  }

  private static let brief = PostgreSQLExchange.Limits(
    silence: .milliseconds(100), patience: .milliseconds(500))

  private static func connect(
    to address: PostgreSQLAddress, sharing outage: PostgreSQLOutage = PostgreSQLOutage()
  ) throws -> PostgreSQLConnection {
    var settings = PostgreSQLConnection.Settings()
    settings.limits = brief
    settings.outage = outage
    return try PostgreSQLConnection(to: address, settings: settings)
  }

  @Test("a statement may take long while PostgreSQL can be reached")
  func longStatement() async throws {
    try await withPlace { place in
      let connection = try Self.connect(to: place.overProxy)
      defer { connection.close() }
      // PostgreSQL itself is slow here, for longer than several probes: that is the case tested.
      let found = try connection.first("SELECT 7::int8 FROM pg_sleep(3)", []) { $0.integer(0) }
      #expect(found == 7)
    }
  }

  private enum Step: CaseIterable {
    case script, statement, newStatement, rows, pipeline, commit, copy, manyBytes
  }

  @Test(
    "every kind of wait ends when PostgreSQL can no longer be reached", arguments: Step.allCases)
  private func silence(_ step: Step) async throws {
    try await withPlace { place in
      let connection = try Self.connect(to: place.overProxy)
      defer { connection.close() }
      try connection.execute("CREATE TABLE things (id BIGINT, content BYTEA)")
      let insertion: Statement = "INSERT INTO things VALUES ($1, $2)"
      try connection.run(insertion, [1, .bytes([])])
      try connection.beginWriting()
      if step == .copy { try connection.beginCopy("COPY things FROM STDIN (FORMAT binary)") }
      place.silence()
      let failure = #expect(throws: StoreError.self) {
        switch step {
        case .script: try connection.execute("SELECT 1")
        case .statement: try connection.run(insertion, [2, .bytes([])])
        case .newStatement: try connection.run("DELETE FROM things", [])
        case .rows: try connection.query("SELECT id FROM things", []) { _ in }
        case .pipeline:
          try connection.runLater(insertion, [2, .bytes([])])
          try connection.settle()
        case .commit: try connection.commit()
        case .copy: try connection.endCopy("COPY")
        case .manyBytes:
          // More than the buffers on the way can have.
          for _ in 0..<200 {
            try connection.runLater(insertion, [2, .bytes([UInt8](repeating: 1, count: 1 << 20))])
          }
        }
      }
      #expect(failure?.code == .unreachable)
      #expect(failure?.reason.contains("did not answer") == true, "\(failure?.reason ?? "")")
      // Nothing of the lost transaction waits again, and another attempt is not made at once.
      #expect(!connection.isInTransaction)
      let again = #expect(throws: StoreError.self) { try connection.beginWriting() }
      #expect(again?.reason == failure?.reason)
      place.proxy.release()
      try await eventually("it connects again") { (try? connection.beginReading()) != nil }
      let count = try connection.first("SELECT COUNT(*) FROM things", []) { $0.integer(0) }
      #expect(count == 1)
      try connection.rollback()
    }
  }

  @Test("a cancelled read ends although the signal reaches nobody", .timeLimit(.minutes(2)))
  func cancelledRead() async throws {
    try await withPlace { place in
      var configuration = StoreConfiguration()
      configuration.readers = 1
      configuration.tuning.silenceMilliseconds = 100
      configuration.tuning.probeMilliseconds = 500
      let store = try await Store.open(
        at: .postgreSQL(place.overProxy, assets: nil), configuration: configuration)
      let hasBegun = Flag()
      let read = Task {
        try await AbandonableReads.within {
          try await store.transactions.read { transaction in
            hasBegun.raise()
            // It ends only by its cancellation.
            try transaction.connection.query("SELECT pg_sleep(600)", []) { _ in }
          }
        }
      }
      try await eventually("the read runs") { hasBegun.isUp }
      place.silence()
      read.cancel()
      await #expect(throws: CancellationError.self) { try await read.value }
      place.proxy.release()
      await store.close()
    }
  }

  @Test("during an outage one connection tries at a time, and its success counts for all")
  func outage() throws {
    let outage = PostgreSQLOutage()
    let lost = StoreError(.unreachable, "it is gone")
    #expect(throws: StoreError.self) {
      try outage.attempt { () throws(StoreError) in throw lost }
    }
    // The last attempt was just now.
    #expect(throws: StoreError.self) {
      try outage.attempt { Issue.record("this one need not try") }
    }
    let later = ContinuousClock.now + .seconds(1)
    try outage.attempt(at: later) { () throws(StoreError) in
      #expect(throws: StoreError.self) {
        try outage.attempt(at: later) { Issue.record("another one tries") }
      }
    }
    var attempts = 0
    try outage.attempt { attempts += 1 }
    try outage.attempt { attempts += 1 }
    #expect(attempts == 2)
  }

  /// Makes commits that add a user wait for a lock, which the test has.
  private static let slowCommits = """
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON users DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait_for_test()
    """
  private static let committing: Statement = """
    SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted
    """

  @Test("whoever hears that a commit is in doubt finds what it finds later")
  func settledBeforeAnswer() async throws {
    try await withPlace { place in
      var configuration = StoreConfiguration()
      configuration.writers = 1
      let store = try await Store.open(
        at: .postgreSQL(place.overProxy, assets: nil), configuration: configuration)
      let test = try PostgreSQLConnection(to: place.direct)
      defer { test.close() }
      try test.execute(Self.slowCommits)
      try test.execute("SELECT pg_advisory_lock(7)")
      let save = Task { try await store.accounts.addUser(named: "anna", at: .now) }
      try await eventually("the commit waits") {
        try test.first(Self.committing, []) { $0.integer(0) } == 1
      }
      // PostgreSQL does not notice, for it reads nothing while it commits.
      place.proxy.cut()
      let failure = await #expect(throws: StoreError.self) { _ = try await save.value }
      #expect(failure?.code == .outcomeUnknown)
      let found = try await store.accounts.users().map(\.name)
      try test.execute("SELECT pg_advisory_unlock(7)")
      try await eventually("nothing waits for the lock") {
        try test.first(Self.committing, []) { $0.integer(0) } == 0
      }
      #expect(try await store.accounts.users().map(\.name) == found)
      await store.close()
    }
  }

  @Test("a connection ends what others have lost before it reads")
  func settledByOthers() async throws {
    try await withPlace { place in
      let outage = PostgreSQLOutage()
      let (lost, other) = try (
        Self.connect(to: place.overProxy, sharing: outage),
        Self.connect(to: place.direct, sharing: outage)
      )
      defer {
        lost.close()
        other.close()
      }
      let number = try lost.first("SELECT pg_backend_pid()::int8", []) { $0.integer(0) } ?? 0
      try lost.beginWriting()
      place.silence()
      #expect(throws: StoreError.self) { try lost.commit() }
      #expect(throws: StoreError.self) { try lost.getReady() }
      try other.beginReading()
      let isThere = try other.first(
        "SELECT 1 FROM pg_stat_activity WHERE pid = $1::int8", [.integer(number)]
      ) { _ in true }
      #expect(isThere == nil)
      try other.rollback()
    }
  }
}
