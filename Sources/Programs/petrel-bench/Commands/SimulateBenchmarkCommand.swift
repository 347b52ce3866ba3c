import CommandInterface
import Foundation
import JSONCoding
import ScaleModel

/// The command `petrel-bench simulate`. It predicts the throughput of many servers
/// (``ScaleAnswer``). With `--check`, it compares the model with measurements (``ScaleCheck``).
struct SimulateBenchmarkCommand: Command {
  let name = "simulate"
  let example = "petrel-bench simulate --saves 50k --users 10M --subscriptions 100M"
  let summary =
    "Predicts the throughput of many servers and shards, by simulation from measured counts."
  let options: [Arguments.Option] = [
    .init("saves", "NUMBER", "saves a second, such as 50k (default 50k)"),
    .init("users", "NUMBER", "users, each with a private database (default 10M)"),
    .init("subscriptions", "NUMBER", "subscriptions of all users (default 100M)"),
    .init("public", "PERCENT", "saves that go to public databases (default 10)"),
    .init(
      "public-databases", "NUMBER",
      "public databases; the n-th has 1/n of the first's saves (default 100)"),
    .init("servers", "NUMBER", "servers (default as many as needed)"),
    .init("shards", "NUMBER", "shards of PostgreSQL (default as many as needed)"),
    .init("utilization", "PERCENT", "the highest utilization that the plan allows (default 60)"),
    .init("cores", "NUMBER", "processor cores of a server (default 8)"),
    .init("shard-cores", "NUMBER", "processor cores of a shard (default 16)"),
    .init(
      "writers", "NUMBER",
      "threads of a server that write (default 16; with --check as many as the measured ones had)"
    ),
    .init("round-trip", "MICROSECONDS", "time from a server to PostgreSQL and back (default 200)"),
    .init("flush", "MICROSECONDS", "time until a shard's log is durable (default 500)"),
    .init(
      "counts", "FILE",
      "the output of 'petrel-bench cluster --json' (default counts in the program)"),
    .init(
      "check", nil,
      "simulates the cases in --counts, and compares the results with the measurements"),
    .init("plot", "FILE", "draws the result as SVG"),
    .init("seconds", "SECONDS", "simulated time of each case (default 5)"),
    .init("seed", "NUMBER", "the seed of the random numbers (default 1)"),
    BenchmarkReport.option,
  ]

  let exitStatuses: [(Int32, String)] = [
    (1, "a prediction is outside the tolerance (with --check)")
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let report = BenchmarkReport("simulate", arguments)
    let counts = try arguments.string("counts").map { try ScaleCounts(file: $0) }
    let costs = try counts?.costs() ?? ScaleCosts()
    if counts != nil { Self.show(costs, report) }
    let writers = try arguments.int("writers", in: 1...1_000)
    if arguments.flag("check") {
      guard let counts else { throw UsageError("--check needs --counts") }
      let isRight = try await onThread {
        ScaleCheck(counts: counts, costs: costs, writers: writers ?? counts.writers, report: report)
          .run()
      }
      report.set(["isWithinTolerance": .bool(isRight)])
      report.end()
      return isRight ? ExitStatus.done : ExitStatus.failed
    }
    let (scenario, clusterCosts, plan) = try Self.scenario(arguments, costs)
    let curves = try await onThread {
      ScaleAnswer(scenario: scenario, costs: clusterCosts, plan: plan, report: report).run()
    }
    if let file = arguments.string("plot") {
      let title =
        "Simulated: \(plan.servers.counting("server")) of \(scenario.coresPerServer) cores, "
        + "\(plan.shards.counting("shard")) of \(scenario.coresPerShard)"
      let svg = ScalePlot(curves: curves, title: title).svg(rate: scenario.rate)
      try svg.write(toFile: file, atomically: true, encoding: .utf8)
    }
    report.end()
    return ExitStatus.done
  }

  /// Returns the load that the options describe, the costs of its operations, and the plan with the
  /// numbers of machines.
  ///
  /// If an option sets a number of machines, it replaces the number of the plan. The times of
  /// network and disk come from options too. Their defaults are those of a data centre, not those
  /// of the measured machine.
  private static func scenario(
    _ arguments: Arguments, _ measured: ScaleCosts
  ) throws -> (ScaleScenario, ScaleCosts, CapacityPlan) {
    var scenario = ScaleScenario()
    scenario.arrivals = .random(perSecond: try arguments.amount("saves") ?? 50_000)
    scenario.users = Int(try arguments.amount("users") ?? 10_000_000)
    scenario.subscriptions = Int(try arguments.amount("subscriptions") ?? 100_000_000)
    scenario.publicShare = Double(try arguments.int("public", in: 0...100) ?? 10) / 100
    scenario.publicDatabases = try arguments.int("public-databases", in: 1...100_000) ?? 100
    scenario.coresPerServer = try arguments.int("cores", in: 1...1_000) ?? 8
    scenario.coresPerShard = try arguments.int("shard-cores", in: 1...1_000) ?? 16
    scenario.writersPerServer = try arguments.int("writers", in: 1...1_000) ?? 16
    scenario.seconds = Double(try arguments.int("seconds", in: 1...3_600) ?? 5)
    scenario.seed = UInt64(try arguments.int("seed", in: 0...Int.max) ?? 1)
    var costs = measured
    costs.roundTrip = Double(try arguments.int("round-trip", in: 1...1_000_000) ?? 200) / 1e6
    costs.flush = Double(try arguments.int("flush", in: 1...1_000_000) ?? 500) / 1e6
    let utilization = Double(try arguments.int("utilization", in: 1...100) ?? 60) / 100
    var plan = CapacityPlan(for: scenario, costs, recordsPerUser: 200, utilization: utilization)
    if let servers = try arguments.int("servers", in: 1...10_000) { plan.servers = servers }
    if let shards = try arguments.int("shards", in: 1...10_000) { plan.shards = shards }
    (scenario.servers, scenario.shards) = (plan.servers, plan.shards)
    return (scenario, costs, plan)
  }

  private static func show(_ costs: ScaleCosts, _ report: BenchmarkReport) {
    let works = [
      ("transaction", costs.transaction), ("save", costs.save), ("change", costs.change),
      ("catchUp", costs.catchUp),
    ]
    func micros(_ seconds: Double) -> JSONValue { .figure(seconds * 1e6) }
    var figures: [String: JSONValue] = [:]
    for (name, work) in works {
      figures[name] = [
        "serverMicroseconds": micros(work.server), "databaseMicroseconds": micros(work.database),
        "logBytes": .figure(work.logBytes),
      ]
      report.line(
        String(
          format: "%.0f us of a server, %.0f us of PostgreSQL, %.0f bytes of log: ",
          work.server * 1e6, work.database * 1e6, work.logBytes) + name)
    }
    report.set(["costs": .object(figures)])
  }
}

extension Arguments {
  /// Returns the number of an option; `nil` if the option was not given. The number may end with
  /// `k`, `M` or `G`, as in `50k` or `10M`.
  ///
  /// - Throws: `UsageError` if the text is not a number from 1 to 10¹².
  func amount(_ name: String) throws -> Double? {
    guard let text = string(name) else { return nil }
    let units: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
    let unit = text.last.flatMap { units[$0] }
    guard let count = Double(unit == nil ? text : String(text.dropLast())), count >= 1,
      count * (unit ?? 1) <= 1e12
    else { throw UsageError("--\(name) must be a number such as 50000, 50k or 10M, not '\(text)'") }
    return count * (unit ?? 1)
  }
}
