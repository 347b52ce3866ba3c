import CommandInterface
import ServerHosting

/// The command `petrel-bench share`. It measures a large shared hierarchy, and the notifications of
/// shared zones. The baselines are the owner's own feed and log.
struct ShareBenchmarkCommand: Command {
  let name = "share"
  let example = "petrel-bench share"
  let summary = "Measures sharing: a large hierarchy, and notifications to participants."
  let options: [Arguments.Option] = [
    .init("zones", "NUMBER", "shared zones in which records are saved (default 4)"),
    .init("participants", "NUMBER", "participants of each share besides the owner (default 10)"),
    .init("rate", "NUMBER", "records saved a second, over all zones together (default 50)"),
    .init("seconds", "SECONDS", "how long each kind of save is measured (default 10)"),
    .init("descendants", "NUMBER", "records below the shared root (default 100000)"),
    .init("rounds", "NUMBER", "how often the feed of the hierarchy is read (default 3)"),
    .init(
      "patience", "SECONDS",
      "the longest wait for a notification before it counts as missing "
        + "(default 10)"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let zones = try arguments.int("zones", in: 1...100) ?? 4
    // A share has 100 participants at most, the owner among them.
    let participants = try arguments.int("participants", in: 1...99) ?? 10
    let rate = try arguments.int("rate", in: 1...10_000) ?? 50
    let seconds = try arguments.int("seconds", in: 1...3600) ?? 10
    let descendants = try arguments.int("descendants", in: 0...10_000_000) ?? 100_000
    let rounds = try arguments.int("rounds", in: 1...1_000) ?? 3
    let patience = try arguments.int("patience", in: 1...3600) ?? 10
    let (server, tokens) = try await ServerProcess.start(
      in: arguments.string("data") ?? ".petrel/bench",
      users: SharingUsers.names(participants: participants))
    defer { server.stop() }
    let users = try SharingUsers(port: server.port, tokens: tokens)
    let report = BenchmarkReport("share", arguments)
    report.set([
      "zones": .figure(zones), "participants": .figure(participants),
      "recordsPerSecond": .figure(rate), "seconds": .figure(seconds),
      "descendants": .figure(descendants),
    ])
    let tree = ShareTreeBenchmark(
      users: users, descendants: descendants, rounds: rounds, report: report)
    try await onThread { try tree.run() }
    try await ShareNotificationBenchmark(
      users: users, zones: zones, rate: Double(rate), seconds: Double(seconds),
      patience: Double(patience), report: report
    ).run()
    report.end()
    return 0
  }
}
