import CloudKitModel
import CommandInterface
import DatabaseAPI
import Foundation
import JSONCoding
import PostgreSQLHosting
import SQLEngine
import ServerHosting
import Storage

/// The benchmark of a public database that several servers dispatch in parts. A part is some of the
/// database's subscribers. One server matches the records against the subscriptions of a part, and
/// writes the notifications.
///
/// For each number of parts, the benchmark counts the work of each server. It then kills the server
/// with the most parts, and measures how long the other servers need until they dispatch these
/// parts too.
struct PartitionBenchmark {
  var servers: Int
  /// The numbers of parts to measure, one after the other.
  var parts: [Int]
  /// The number of subscriptions in the public database.
  var subscriptions: Int
  /// The number of subscriptions that each record fires.
  var fired: Int
  /// The number of records to save for each number of parts.
  var saves: Int
  /// The PostgreSQL server of the benchmark.
  var server: HostedPostgreSQL
  var directory: String
  var report: BenchmarkReport
  private static let patience = 120.0
  private static let notifications = "petrel_notifications_logged_total"
  private static let delays = "petrel_change_dispatch_delay_seconds"

  private var address: String { server.address() }
  /// The number of authors. A record fires the subscriptions to its author.
  private var authors: Int { max(1, subscriptions / fired) }
  private var location: StoreLocation {
    get throws {
      .postgreSQL(try PostgreSQLAddress(address), assets: directory + "/petrel-assets")
    }
  }

  /// The work of each server, and the work of all servers together.
  private struct Outcome {
    /// The number of notifications that each server has logged.
    var logged: [Double] = []
    var processor: [Double] = []
    /// The counters over all servers; the default value if they were not read.
    var whole = ClusterCounts()
  }

  func run() async throws {
    let token = try await prepare()
    let probe = try PostgreSQLProbe(address)
    try probe.rows("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
    report.set([
      "servers": .figure(servers), "subscriptions": .figure(subscriptions),
      "firedByEachRecord": .figure(fired), "saves": .figure(saves),
      "cores": .figure(ProcessInfo.processInfo.activeProcessorCount),
    ])
    report.line(
      "\(subscriptions) subscriptions in a public database, \(saves) records that fire \(fired) each, "
        + "\(servers) servers; of each server the greatest figure")
    report.line(
      "parts  index       read in  notifications  server CPU  logged p50        p99  commits  stmts  "
        + "killed: all again after")
    var first: Double?
    for count in parts {
      let bytes = try await measure(count, token, probe)
      if let first {
        report.extend("measurements", ["indexRatioToBaseline": .figure(bytes / first)])
        report.line(String(format: "       index: %.2f of the first", bytes / first))
      } else {
        first = bytes
      }
    }
  }

  private func prepare() async throws -> String {
    let store = try await Store.open(
      at: location, configuration: StoreConfiguration(role: .tool))
    do {
      let user = try await store.accounts.addUser(named: "feeder", at: .now)
      let token = try await Account.makeToken(for: user, in: store.accounts, at: .now)
      let authors = authors
      let fill = SubscriptionFill(
        store: store.subscriptions,
        database: try await store.databases.database(at: FanOutRecords.address(.public)),
        users: subscriptions)
      let start = monotonicSeconds()
      try await fill.save(subscriptions) {
        FanOutRecords.subscription("feed", author: "author-\($0 % authors)")
      }
      report.line(String(format: "filled in %.0f s", monotonicSeconds() - start))
      await store.close()
      return token
    } catch {
      await store.close()
      throw error
    }
  }

  /// Returns the size in bytes of the largest matching index among the servers.
  private func measure(
    _ count: Int, _ token: String, _ probe: PostgreSQLProbe
  ) async throws -> Double {
    try await divide(into: count)
    var running = try (0..<servers).map { _ in try ServerProcess(in: directory, store: address) }
    defer { for server in running { server.stop() } }
    try await untilShared(count, probe)
    // The servers read their indexes for the first record.
    _ = try await save(1, "first-\(count)", token, over: running)
    let figures = try running.map { try ServerFigures.read(from: [$0.port]) }
    func greatest(_ name: String) -> Double { figures.map { $0[name] ?? 0 }.max() ?? 0 }
    let bytes = greatest("petrel_matching_index_bytes")
    let outcome = try await save(saves, "record-\(count)", token, over: running, probe)
    let killed = try await kill(&running, count, token, probe)
    report.row(
      "measurements",
      [
        "parts": .figure(count), "indexBytes": .figure(bytes),
        "indexBytesOfEach": .array(
          figures.map { .figure($0["petrel_matching_index_bytes"] ?? 0) }),
        "indexReadSeconds": .figure(greatest("petrel_matching_index_load_seconds_total")),
        "notificationsOfEach": .array(outcome.logged.map { .figure($0) }),
        "processorSecondsOfEach": .array(outcome.processor.map { .figure($0) }),
        "loggedP50Milliseconds": .figure(
          outcome.whole.figures.quantile(0.5, of: Self.delays) * 1000),
        "loggedP99Milliseconds": .figure(
          outcome.whole.figures.quantile(0.99, of: Self.delays) * 1000),
        "commitsPerSave": .figure(outcome.whole.commits / Double(saves)),
        "statementsPerSave": .figure(outcome.whole.statements / Double(saves)),
        "dispatchedAgainSeconds": .figure(killed),
      ])
    report.line(
      String(
        format:
          "%5d  %5.1f MB  %5.0f ms  %13.0f  %7.2f s  %7.0f ms  %6.0f ms  %7.1f  %5.0f  %.1f s",
        count, bytes / 1e6, greatest("petrel_matching_index_load_seconds_total") * 1000,
        outcome.logged.max() ?? 0, outcome.processor.max() ?? 0,
        outcome.whole.figures.quantile(0.5, of: Self.delays) * 1000,
        outcome.whole.figures.quantile(0.99, of: Self.delays) * 1000,
        outcome.whole.commits / Double(saves), outcome.whole.statements / Double(saves), killed))
    return bytes
  }

  private func divide(into count: Int) async throws {
    let store = try await Store.open(
      at: location, configuration: StoreConfiguration(role: .tool))
    do {
      let database = try await store.databases.database(at: FanOutRecords.address(.public))
      _ = try await store.servers?.partition(database, into: count)
      await store.close()
    } catch {
      await store.close()
      throw error
    }
  }

  /// Waits until servers dispatch all parts, and as many servers as possible have a part.
  private func untilShared(_ count: Int, _ probe: PostgreSQLProbe) async throws {
    let wanted = min(count, servers)
    if count == 1 { return }
    try await until("the parts are shared") {
      let row = try probe.numbers(
        """
        SELECT count(DISTINCT holder), count(*) FROM dispatch_leases JOIN servers
          ON server_id = holder WHERE parts > 1
        """, count: 2)
      return row[0] == Double(wanted) && row[1] == Double(count)
    }
  }

  /// Saves records at the servers in turn. The method saves each record after all notifications of
  /// the record before are in the log, and returns after those of the last record are.
  ///
  /// - Parameter probe: A connection to PostgreSQL; `nil` to count no work of PostgreSQL.
  private func save(
    _ count: Int, _ name: String, _ token: String, over running: [ServerProcess],
    _ probe: PostgreSQLProbe? = nil
  ) async throws -> Outcome {
    func logged() throws -> [Double] {
      try running.map { try ServerFigures.read(from: [$0.port])[Self.notifications] ?? 0 }
    }
    func processor() -> [Double] { running.map { ProcessTime.seconds(of: $0.identifier) } }
    let before = (logged: try logged(), processor: processor())
    let counts = try probe.map { try ClusterCounts.take($0, servers: running, isLocal: true) }
    let path = EarthquakeRequests.path("records/modify", token: token, device: "feeder")
    let connections = try running.map { try LoadConnection(port: $0.port) }
    let beginning = before.logged.reduce(0, +)
    for number in 0..<count {
      let body = """
        {"operations":[{"operationType":"create","record":{"recordType":"\(FanOutRecords.recordType)",\
        "recordName":"\(name)-\(number)","fields":{"author":{"value":"author-\(number % authors)",\
        "type":"STRING"},"title":{"value":"Sea","type":"STRING"}}}}]}
        """
      try connections[number % connections.count].post(path, Array(body.utf8))
      let wanted = beginning + Double((number + 1) * fired)
      try await until("record \(number) is dispatched") { try logged().reduce(0, +) >= wanted }
    }
    var outcome = Outcome()
    outcome.logged = zip(try logged(), before.logged).map { $0 - $1 }
    outcome.processor = zip(processor(), before.processor).map { $0 - $1 }
    if let probe, let counts {
      outcome.whole = try ClusterCounts.take(probe, servers: running, isLocal: true).since(counts)
    }
    return outcome
  }

  /// Kills the server that dispatches the most parts, removes it from `running`, and saves a
  /// record.
  ///
  /// - Returns: The seconds from the kill until all notifications of the record are in the log.
  private func kill(
    _ running: inout [ServerProcess], _ count: Int, _ token: String, _ probe: PostgreSQLProbe
  ) async throws -> Double {
    let holders = try running.map {
      try ServerFigures.read(from: [$0.port])["petrel_dispatch_leases"] ?? 0
    }
    let place = holders.indices.max { holders[$0] < holders[$1] } ?? 0
    running.remove(at: place).kill()
    let start = monotonicSeconds()
    let path = EarthquakeRequests.path("records/modify", token: token, device: "feeder")
    let before = try dispatched(probe)
    let body = """
      {"operations":[{"operationType":"create","record":{"recordType":"\(FanOutRecords.recordType)",\
      "recordName":"killed-\(count)","fields":{"author":{"value":"author-0","type":"STRING"},\
      "title":{"value":"Sea","type":"STRING"}}}}]}
      """
    try LoadConnection(port: running[0].port).post(path, Array(body.utf8))
    try await until("the last record is dispatched") { try dispatched(probe) > before }
    return monotonicSeconds() - start
  }

  /// Returns the number of the last change whose notifications are all in the log.
  private func dispatched(_ probe: PostgreSQLProbe) throws -> Double {
    try probe.numbers("SELECT max(through) FROM dispatches", count: 1)[0]
  }

  /// Throws a `UsageError` with `what` if the condition is false for two minutes.
  private func until(_ what: String, _ condition: () throws -> Bool) async throws {
    let start = monotonicSeconds()
    while try !condition() {
      guard monotonicSeconds() - start < Self.patience else {
        throw UsageError("timed out before \(what)")
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
