import CommandInterface

/// The command `petrel-bench explain`, which runs ``HistoryCostBenchmark``.
struct ExplainBenchmarkCommand: Command {
  let name = "explain"
  let example = "petrel-bench explain"
  let summary = "Measures the cost of keeping the changes for explanations."
  let options: [Arguments.Option] = [
    .init("subscriptions", "NUMBER", "subscriptions on the saved record type (default 10000)"),
    .init("seconds", "NUMBER", "how long each turn saves (default 5)"),
    .init("rounds", "NUMBER", "turns of each kind (default 3)"),
    .init("connections", "NUMBER", "connections that save (default 32)"),
    .init("data", "DIRECTORY", "for the servers' data (default .petrel/bench)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let report = BenchmarkReport("explain", arguments)
    try await HistoryCostBenchmark(
      subscriptions: arguments.int("subscriptions", in: 1...1_000_000) ?? 10_000,
      connections: arguments.int("connections", in: 1...1_000) ?? 32,
      seconds: Double(arguments.int("seconds", in: 1...600) ?? 5),
      rounds: arguments.int("rounds", in: 1...100) ?? 3,
      directory: arguments.string("data") ?? ".petrel/bench", report: report
    ).run()
    report.end()
    return 0
  }
}
