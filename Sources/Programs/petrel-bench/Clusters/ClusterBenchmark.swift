import CommandInterface
import Configuration
import Foundation
import JSONCoding
import PostgreSQLHosting
import ScaleModel
import ServerHosting

/// The benchmark of several servers on one PostgreSQL. For each number of servers, it measures the
/// rate of saves, and counts the work of the servers and of PostgreSQL for each save.
///
/// The module `ScaleModel`, which simulates large clusters, computes its costs from these figures.
struct ClusterBenchmark {
  var servers: [Int]
  /// The number of private databases with subscriptions. There are as many private databases
  /// without subscriptions.
  var databases: Int
  /// The percentage of saves into the public database, 0 to 100.
  var publicShare: Int
  /// The number of connections to each server at full load: when each connection sends its next
  /// save as soon as it has the answer.
  var connections: Int
  var seconds: Double
  /// The saves a second of the evenly paced load, over all servers; `nil` for 30 % of the rate at
  /// full load.
  var rate: Double?
  var address: String
  /// The PostgreSQL server that the benchmark started; `nil` if the user named another one.
  var own: HostedPostgreSQL?
  var directory: String
  var report: BenchmarkReport

  /// The default rate of the evenly paced load, as a fraction of the rate at full load.
  private static let pacedShare = 0.3
  /// The seconds without a new log entry after which the other changes count as not dispatched.
  private static let patience = 10.0
  /// The number of connections to each server for the evenly paced load. Each connection sends one
  /// save at a time.
  private static let lines = 4

  /// The load of one measurement.
  private struct Load {
    /// Whether the databases have subscriptions, of which each record fires one.
    var isSubscribed: Bool
    /// The saves a second over all servers, sent at an even rate; `nil` for full load.
    var rate: Double?
  }

  /// The results of one measurement.
  private struct Outcome {
    var result: LoadGenerator.Result
    var counts: ClusterCounts
    var waits: LockWaitSampler.Waits
    /// The seconds from the end of the load to the log entry of the last change.
    var drainSeconds: Double
    /// The number of saves that were not dispatched in time; 0 without subscriptions.
    var left: Double
    /// The delays from a save to the notification of a reader at another server; `nil` if there was
    /// no reader.
    var notified: Percentiles?

    /// The number of answered saves, at least 1 so that it can be a divisor.
    var saves: Double { Double(max(1, result.answered)) }
  }

  /// With the first number of servers, the benchmark also measures without subscriptions.
  func run() async throws {
    let setup = try await ClusterSetup.prepare(
      store: address, directory: directory, databases: databases)
    let probe = try PostgreSQLProbe(address)
    if own != nil { try probe.rows("CREATE EXTENSION IF NOT EXISTS pg_stat_statements") }
    if try !ClusterCounts.hasStatements(probe) {
      report.line(
        "the extension pg_stat_statements is missing: statements and rows are not counted")
    }
    printConditions(probe)
    report.line(
      "servers  load      subscr.  saves/s        p50        p99  logged p50        p99  stmts  rows"
        + "  commits     WAL   server CPU      PG CPU   lock waits")
    var courier: String?
    for count in servers {
      let running = try startServers(count)
      defer { for server in running { server.stop() } }
      let path = try courier ?? setup.fill(over: running[0].port)
      courier = path
      var most: [Bool: Double] = [:]
      for isSubscribed in count == servers.first ? [false, true] : [true] {
        for isPaced in [false, true] {
          let rate = self.rate ?? (most[isSubscribed] ?? 0) * Self.pacedShare
          let load = Load(isSubscribed: isSubscribed, rate: isPaced ? rate : nil)
          let reader: ClusterReader? =
            if isPaced, isSubscribed, count > 1 {
              try ClusterReader(at: running, path: path, requests: setup.readerRequests())
            } else {
              nil
            }
          defer { reader?.stop() }
          let outcome = try await measure(load, on: running, reader: reader, setup, probe)
          if !isPaced { most[isSubscribed] = outcome.result.rate }
          show(load, outcome, servers: count)
          if isSubscribed, !isPaced { try printBaseline(outcome) }
        }
      }
    }
  }

  /// If one of them does not start, the method stops the others and throws.
  private func startServers(_ count: Int) throws -> [ServerProcess] {
    var running: [ServerProcess] = []
    do {
      for _ in 0..<count {
        running.append(try ServerProcess(in: directory, store: address))
      }
    } catch {
      for server in running { server.stop() }
      throw error
    }
    return running
  }

  // MARK: Loading

  private func measure(
    _ load: Load, on servers: [ServerProcess], reader: ClusterReader?, _ setup: ClusterSetup,
    _ probe: PostgreSQLProbe
  ) async throws -> Outcome {
    let requests = setup.requests(subscribed: load.isSubscribed, publicShare: publicShare)
    // Each server gets the requests in another order. With the same order, all servers would save
    // into the same database at the same time.
    var random = SeededRandom(seed: UInt64(servers.count))
    let generators = servers.map { server in
      (0..<(load.rate == nil ? 1 : Self.lines)).map { _ in
        var generator = LoadGenerator(
          port: server.port, connections: connections, requests: requests.shuffled(using: &random))
        generator.toleratesRefusals = true
        return generator
      }
    }
    // The first second is not counted, because the servers read their indexes and prepare their
    // statements then.
    try await drive(generators, seconds: 1, rate: load.rate)
    if let reader { _ = try await reader.delays(of: reader.save(seconds: 1).answered) }
    _ = try await drained(servers, from: .init(), saves: .infinity, patience: 1)
    try probe.rows("CHECKPOINT")
    let before = try ClusterCounts.take(probe, servers: servers, isLocal: own != nil)
    let sampler = try LockWaitSampler(address)
    async let readers = reader?.save(seconds: seconds)
    var result = try await drive(generators, seconds: seconds, rate: load.rate)
    let read = try await readers
    if let read { result += read }
    result.seconds = seconds
    let end = monotonicSeconds()
    let waits = sampler.stop()
    let logged =
      load.isSubscribed
      ? try await drained(
        servers, from: before.figures, saves: Double(result.answered), patience: Self.patience) : 0
    let drainSeconds = monotonicSeconds() - end
    let notified = try await reader?.delays(of: read?.answered ?? 0)
    let counts = try ClusterCounts.take(probe, servers: servers, isLocal: own != nil).since(before)
    return Outcome(
      result: result, counts: counts, waits: waits, drainSeconds: drainSeconds,
      left: load.isSubscribed ? max(0, Double(result.answered) - logged) : 0,
      notified: notified)
  }

  /// Loads all servers at the same time.
  ///
  /// - Parameters:
  ///   - generators: The loads of each server. For full load, a server has one load. For the evenly
  ///     paced load, it has one for each connection.
  ///   - rate: Saves a second over all servers; `nil` for full load.
  @discardableResult
  private func drive(
    _ generators: [[LoadGenerator]], seconds: Double, rate: Double?
  ) async throws -> LoadGenerator.Result {
    try await withThrowingTaskGroup(of: LoadGenerator.Result.self) { group in
      for (place, lines) in generators.enumerated() {
        for (line, generator) in lines.enumerated() {
          guard let rate else {
            group.addTask { try await generator.run(seconds: seconds) }
            continue
          }
          let each = rate / Double(lines.count * generators.count)
          let delay = Double(line * generators.count + place) / rate
          group.addTask {
            try await onThread { try generator.pace(rate: each, seconds: seconds, delay: delay) }
          }
        }
      }
      var sum = LoadGenerator.Result()
      for try await result in group { sum += result }
      sum.seconds = seconds
      return sum
    }
  }

  /// Waits until `saves` notifications are in the log, or until none was added for `patience`
  /// seconds.
  ///
  /// - Returns: The number of notifications that were logged since `before`.
  private func drained(
    _ servers: [ServerProcess], from before: ServerFigures, saves: Double, patience: Double
  ) async throws -> Double {
    var logged = 0.0
    var last = monotonicSeconds()
    while true {
      let figures = try ServerFigures.read(from: servers.map(\.port)) - before
      let now = figures["petrel_notifications_logged_total"] ?? 0
      if now > logged { (logged, last) = (now, monotonicSeconds()) }
      if logged >= saves || monotonicSeconds() - last > patience { return logged }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  // MARK: Reporting

  private func printConditions(_ probe: PostgreSQLProbe) {
    report.set([
      "databases": .figure(databases), "publicPercent": .figure(publicShare),
      "connectionsPerServer": .figure(connections),
      "writersPerServer": .figure(ServerConfiguration(dataDirectory: directory).storeWriters),
      "secondsEach": .figure(seconds),
      "cores": .figure(ProcessInfo.processInfo.activeProcessorCount),
      // The version is only for information. After an error, it is empty.
      "postgreSQL": .string(((try? probe.rows("SHOW server_version"))?.first?.first ?? "") ?? ""),
    ])
    report.line(
      "one record in each request, \(databases) private databases and a public one that has "
        + "\(publicShare) % of the saves; of the subscribed each record fires one subscription")
  }

  private func show(_ load: Load, _ outcome: Outcome, servers: Int) {
    let times = Percentiles(outcome.result.times)
    let counts = outcome.counts
    let figures = counts.figures
    let delays = "petrel_change_dispatch_delay_seconds"
    func each(_ value: Double) -> JSONValue { .figure(value / outcome.saves) }
    func micros(_ value: Double) -> JSONValue { .figure(value * 1e6 / outcome.saves) }
    let dispatched = figures["petrel_changes_dispatched_total"] ?? 0
    report.row(
      "measurements",
      [
        "servers": .figure(servers), "isPaced": .bool(load.rate != nil),
        "hasSubscriptions": .bool(load.isSubscribed),
        "savesPerSecond": .figure(outcome.result.rate), "saves": .figure(outcome.result.answered),
        "refusedRequests": .figure(outcome.result.refused),
        "dispatchedPerSecond": .figure(dispatched / (seconds + outcome.drainSeconds)),
        "drainSeconds": .figure(outcome.drainSeconds), "undispatched": .figure(outcome.left),
        "loggedP50Milliseconds": .figure(figures.quantile(0.5, of: delays) * 1000),
        "loggedP99Milliseconds": .figure(figures.quantile(0.99, of: delays) * 1000),
        "loggedMeanMilliseconds": .figure(figures.mean(of: delays) * 1000),
      ], times.figures("save"), outcome.notified?.figures("notified") ?? [:],
      [
        "statementsPerSave": each(counts.statements), "rowsPerSave": each(counts.rowsWritten),
        "commitsPerSave": each(counts.commits),
        "rollbacks": .figure(counts.rollbacks), "deadlocks": .figure(counts.deadlocks),
        "retriedTransactions": .figure(figures["petrel_store_retries_total"] ?? .nan),
        "logBytesPerSave": each(counts.logBytes),
        "fullPageImagesPerSave": each(counts.fullPageImages),
        "flushesPerSecond": .figure(counts.flushes / (seconds + outcome.drainSeconds)),
        "flushMicroseconds": .figure(counts.flushSeconds * 1e6 / max(1, counts.flushes)),
        "executionMicrosecondsPerSave": micros(counts.executionSeconds),
        "writesPerCommit": .figure(
          (figures["petrel_store_writes_total"] ?? .nan)
            / (figures["petrel_store_commits_total"] ?? .nan)),
        "storeWritesPerSave": each(figures["petrel_store_writes_total"] ?? .nan),
        "storeCommitsPerSave": each(figures["petrel_store_commits_total"] ?? .nan),
        "commitMeanMilliseconds": .figure(
          figures.mean(of: "petrel_store_commit_duration_seconds") * 1000),
        "serverProcessorMicrosecondsPerSave": micros(counts.serverProcessor),
        "postgreSQLProcessorMicrosecondsPerSave": micros(counts.postgreSQLSeconds),
        "loadProcessorMicrosecondsPerSave": micros(counts.loadProcessor),
        "waitingForLocks": .figure(outcome.waits.waiting),
        "lockWaits": .object(
          outcome.waits.locks.mapValues {
            .figure(Double($0) / Double(max(1, outcome.waits.samples)))
          }),
        "waitingForLog": .figure(
          Double(outcome.waits.log) / Double(max(1, outcome.waits.samples))),
        "dispatchFailures": .figure(figures["petrel_dispatch_failures_total"] ?? .nan),
        "leases": .figure(figures["petrel_dispatch_leases"] ?? .nan),
        "leasesLost": .figure(figures["petrel_dispatch_leases_lost_total"] ?? .nan),
        "indexLoadsPerSave": each(figures["petrel_matching_index_loads_total"] ?? .nan),
        "catchUpsPerSave": each(figures["petrel_dispatch_catch_ups_total"] ?? .nan),
        "statements": .object(
          counts.works.mapValues { work in
            ["callsPerSave": each(work.calls), "rowsPerSave": each(work.rows)]
          }),
      ])
    func padded(_ text: String, _ width: Int) -> String { text.leftPadding(to: width) }
    func delay(_ share: Double) -> String {
      let value = figures.quantile(share, of: delays)
      return value.isFinite ? String(format: "%.1f ms", value * 1000) : "-"
    }
    report.line(
      padded("\(servers)", 7) + "  " + (load.rate == nil ? "full" : "even").padding(to: 8) + "  "
        + padded(load.isSubscribed ? "yes" : "no", 7)
        + String(format: "  %7.0f", outcome.result.rate)
        + "  \(padded(times.text(0.5), 9))  \(padded(times.text(0.99), 9))"
        + "  \(padded(delay(0.5), 10))  \(padded(delay(0.99), 9))"
        + String(
          format: "  %5.1f  %4.1f  %7.2f  %4.1f KB  %8.0f us  %7.0f us  %11.2f",
          counts.statements / outcome.saves, counts.rowsWritten / outcome.saves,
          counts.commits / outcome.saves, counts.logBytes / outcome.saves / 1000,
          counts.serverProcessor * 1e6 / outcome.saves,
          counts.postgreSQLSeconds * 1e6 / outcome.saves, outcome.waits.waiting))
    if let notified = outcome.notified {
      report.line(
        "         time until a reader of another server gets the notification of a record: "
          + "p50 \(notified.text(0.5)), p99 \(notified.text(0.99)), most \(notified.text(1))")
    }
    if outcome.left > 0 { report.line("         \(Int(outcome.left)) saves were not dispatched") }
  }

  /// Measures how fast PostgreSQL alone writes the same rows, and reports the ratio. The method
  /// does nothing if the user named the PostgreSQL server.
  private func printBaseline(_ outcome: Outcome) throws {
    guard let own, outcome.counts.commits > 0 else { return }
    let result = try PgbenchBaseline(
      server: own, clients: 8, seconds: max(1, Int(seconds / 2))
    ).measure(outcome.counts, saves: outcome.saves)
    let ratio = outcome.result.rate / result.savesPerSecond
    report.extend(
      "measurements",
      [
        "baselineSavesPerSecond": .figure(result.savesPerSecond),
        "baselineSavesPerTransaction": .figure(result.savesPerTransaction),
        "baselineRowsPerSave": .figure(result.rowsPerSave), "ratioToBaseline": .figure(ratio),
      ])
    report.line(
      String(
        format:
          "         baseline: pgbench writes the rows of %.0f saves a second (%.1f rows each, "
          + "%.1f saves a transaction); ratio %.2f", result.savesPerSecond, result.rowsPerSave,
        result.savesPerTransaction, ratio))
  }
}
