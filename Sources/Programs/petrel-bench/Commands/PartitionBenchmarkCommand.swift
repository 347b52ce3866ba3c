import CommandInterface
import Foundation
import PostgreSQLHosting

/// The command `petrel-bench partition`. It runs ``PartitionBenchmark`` on a PostgreSQL server that
/// it starts.
struct PartitionBenchmarkCommand: Command {
  let name = "partition"
  let example = "petrel-bench partition --servers 3 --parts 1,3"
  let summary =
    "Compares a public database that one server dispatches with one that several dispatch in parts."
  let options: [Arguments.Option] = [
    .init("servers", "NUMBER", "how many servers (default 3)"),
    .init(
      "parts", "LIST",
      "how many parts, one number after the other (default 1,3); the first is the baseline"),
    .init("subscriptions", "NUMBER", "in the database, each of another user (default 100000)"),
    .init("fired", "NUMBER", "how many of them each record fires (default 300)"),
    .init("saves", "NUMBER", "records that are saved (default 100)"),
    .init(
      "data", "DIRECTORY", "where PostgreSQL writes; the disk matters (default a temporary one)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let name = "petrel-partition-\(UUID().uuidString.prefix(8))"
    let directory =
      URL(fileURLWithPath: arguments.string("data") ?? NSTemporaryDirectory()).path + "/" + name
    let servers = try arguments.int("servers", in: 1...16) ?? 3
    let parts = try arguments.ints("parts", in: 1...64) ?? [1, 3]
    let subscriptions = try arguments.int("subscriptions", in: 1...10_000_000) ?? 100_000
    let fired = try arguments.int("fired", in: 1...100_000) ?? 300
    let saves = try arguments.int("saves", in: 1...100_000) ?? 100
    guard fired <= subscriptions else {
      throw UsageError("--fired can't be more than --subscriptions")
    }
    let report = BenchmarkReport("partition", arguments)
    let own = try await onThread {
      try HostedPostgreSQL(in: directory + "-pg", settings: ClusterBenchmarkCommand.settings)
    }
    defer {
      own.end()
      BenchmarkFolder.remove(directory)
    }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try await PartitionBenchmark(
      servers: servers, parts: parts, subscriptions: subscriptions / fired * fired, fired: fired,
      saves: saves, server: own, directory: directory, report: report
    ).run()
    report.end()
    return 0
  }
}
