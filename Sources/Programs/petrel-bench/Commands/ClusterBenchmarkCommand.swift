import CommandInterface
import Foundation
import PostgreSQLHosting

/// The command `petrel-bench cluster`. It runs ``ClusterBenchmark`` on a PostgreSQL server that it
/// starts, or on one that the user names.
struct ClusterBenchmarkCommand: Command {
  let name = "cluster"
  let example = "petrel-bench cluster --servers 1,2,3"
  let summary =
    "Measures the throughput of several servers on one PostgreSQL, and its cost there."
  let options: [Arguments.Option] = [
    .init(
      "store", "URL",
      "an empty database of a PostgreSQL (default a temporary PostgreSQL, from Debian's packages)"
    ),
    .init("servers", "LIST", "how many servers, one number after the other (default 1,2,3)"),
    .init("databases", "NUMBER", "private databases with subscriptions (default 100)"),
    .init("public", "PERCENT", "saves that go to the public database (default 10)"),
    .init("connections", "NUMBER", "connections to each server that save records (default 16)"),
    .init("seconds", "SECONDS", "how long each is measured (default 10)"),
    .init(
      "rate", "NUMBER",
      "saves a second in the evenly paced cases (default 30 % of the highest rate)"),
    .init(
      "data", "DIRECTORY", "where PostgreSQL writes; the disk matters (default a temporary one)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let name = "petrel-cluster-\(UUID().uuidString.prefix(8))"
    let directory =
      URL(fileURLWithPath: arguments.string("data") ?? NSTemporaryDirectory()).path + "/" + name
    let servers = try arguments.ints("servers", in: 1...64) ?? [1, 2, 3]
    let databases = try arguments.int("databases", in: 1...10_000) ?? 100
    let publicShare = try arguments.int("public", in: 0...100) ?? 10
    let connections = try arguments.int("connections", in: 1...1000) ?? 16
    let seconds = try arguments.int("seconds", in: 1...3600) ?? 10
    let rate = try arguments.int("rate", in: 1...1_000_000)
    let report = BenchmarkReport("cluster", arguments)
    let own =
      arguments.string("store") == nil
      ? try await onThread {
        try HostedPostgreSQL(in: directory + "-pg", settings: Self.settings)
      } : nil
    defer {
      own?.end()
      BenchmarkFolder.remove(directory)
    }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try await ClusterBenchmark(
      servers: servers, databases: databases, publicShare: publicShare, connections: connections,
      seconds: Double(seconds), rate: rate.map(Double.init),
      address: arguments.string("store") ?? own?.address() ?? "", own: own, directory: directory,
      report: report
    ).run()
    report.end()
    return 0
  }

  /// The settings of the PostgreSQL server that the benchmark starts. Two of them are unusual: the
  /// counters are on, and the limits for automatic checkpoints are so high that a measurement
  /// rarely reaches them.
  static let settings = [
    "shared_preload_libraries = 'pg_stat_statements'", "pg_stat_statements.max = 2000",
    "track_wal_io_timing = on", "max_connections = 300", "shared_buffers = 256MB",
    "max_wal_size = 8GB", "checkpoint_timeout = 30min",
  ]
}
