import CommandInterface
import JSONCoding
import ServerHosting

/// The command `petrel-bench sync`. It measures `CKSyncEngine` with clients in this process and a server
/// in another one. The baselines are the methods of `CKDatabase` that an engine uses.
struct SyncBenchmarkCommand: Command {
  let name = "sync"
  let example = "petrel-bench sync"
  let summary = "Measures CKSyncEngine: sending, fetching, and the way to another device."
  let options: [Arguments.Option] = [
    .init("changes", "NUMBER", "changes of a zone that are fetched (default 100000)"),
    .init("records", "NUMBER", "records that are sent (default 10000)"),
    .init(
      "pending", "NUMBERS",
      "changes that are pending at once, by turns (default 10000,50000,100000)"),
    .init("delays", "NUMBER", "changes timed to another device in a round (default 100)"),
    .init("rate", "NUMBER", "these changes a second (default 20)"),
    .init("rounds", "NUMBER", "how often baselines and engines take turns (default 3)"),
    .init(
      "patience", "SECONDS",
      "the longest wait for a change before it counts as missing (default 10)"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let changes = try arguments.int("changes", in: 1...10_000_000) ?? 100_000
    let records = try arguments.int("records", in: 1...10_000_000) ?? 10_000
    let pending = try arguments.ints("pending", in: 1...10_000_000) ?? [10_000, 50_000, 100_000]
    let delays = try arguments.int("delays", in: 1...100_000) ?? 100
    let rate = try arguments.int("rate", in: 1...1_000) ?? 20
    let rounds = try arguments.int("rounds", in: 1...1_000) ?? 3
    let patience = try arguments.int("patience", in: 1...3600) ?? 10
    let directory = arguments.string("data") ?? ".petrel/bench"
    let (server, tokens) = try await ServerProcess.start(
      in: directory, users: ["reader", "sender", "collector", "owner"])
    defer { server.stop() }
    let devices = directory + "-devices"
    defer { BenchmarkFolder.remove(devices) }
    let users = tokens.map { SyncUser(server: server.url, token: $0, directory: devices) }
    let report = BenchmarkReport("sync", arguments)
    report.set([
      "changes": .figure(changes), "records": .figure(records), "changesPerSecond": .figure(rate),
    ])
    try await SyncFetchBenchmark(
      user: users[0], changes: changes, rounds: rounds, report: report
    ).run()
    try await SyncSendBenchmark(
      user: users[1], records: records, rounds: rounds, report: report
    ).run()
    try await PendingChangesBenchmark(user: users[2], counts: pending, report: report).run()
    try await SyncDelayBenchmark(
      user: users[3], changes: delays, rate: Double(rate), rounds: rounds,
      patience: Double(patience), report: report
    ).run()
    report.end()
    return 0
  }
}
