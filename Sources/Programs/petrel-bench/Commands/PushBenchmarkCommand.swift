import CommandInterface

/// The command `petrel-bench push`, which runs ``PushBenchmark`` and ``PushQueueBenchmark``.
struct PushBenchmarkCommand: Command {
  let name = "push"
  let example = "petrel-bench push"
  let summary = "Measures how fast pushes are sent, beside h2load."
  let options: [Arguments.Option] = [
    .init("pushes", "NUMBER", "pushes in each turn (default 200000)"),
    .init("connections", "NUMBER", "connections that may be opened for them (default 1)"),
    .init("turns", "NUMBER", "how many measurements, each after one of h2load (default 3)"),
    .init("durable", nil, "then measures once more, with a server's queue on disk"),
    .init(
      "data", "DIRECTORY", "the directory of the queue; the disk matters (default .petrel/bench)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let pushes = try arguments.int("pushes", in: 1_000...10_000_000) ?? 200_000
    let connections = try arguments.int("connections", in: 1...64) ?? 1
    let turns = try arguments.int("turns", in: 1...100) ?? 3
    let directory = arguments.string("data") ?? ".petrel/bench"
    let report = BenchmarkReport("push", arguments)
    let peer = try await PushPeer.start()
    defer { peer.stop() }
    let rate = try await PushBenchmark(
      pushes: pushes, connections: connections, turns: turns, report: report
    )
    .run(at: peer)
    if arguments.flag("durable") {
      try await PushQueueBenchmark(
        pushes: pushes, connections: connections, directory: directory, report: report
      ).run(at: peer, beside: rate)
    }
    report.end()
    return 0
  }
}
