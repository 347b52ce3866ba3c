import CloudKitModel
import CommandInterface
import Foundation
import Matching

/// The command `petrel-bench match`. It measures the rate at which the index finds the
/// subscriptions that match an event. It compares this rate with the evaluation of each
/// subscription, and with mokaccino, another matching library.
struct MatchBenchmarkCommand: Command {
  let name = "match"
  let example = "petrel-bench match"
  let summary = "Measures how fast changes find the subscriptions that fire on them."
  let options: [Arguments.Option] = [
    .init("subscriptions", "N", "how many there are (default 10000, then 100000, then 1000000)"),
    .init(
      "workload", "DIRECTORY",
      "the directory with subscriptions.jsonl and events.jsonl (default generated ones)"),
    .init("seconds", "SECONDS", "how long events are matched (default 5)"),
    .init("scripts", "DIRECTORY", "the directory with the project's scripts (default Scripts)"),
    .init("python", "PATH", "a Python, best with mokaccino (default python3)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let seconds = Double(try arguments.int("seconds", in: 1...600) ?? 5)
    let scripts = MatchingScripts(
      directory: arguments.string("scripts") ?? "Scripts",
      python: arguments.string("python") ?? "python3")
    let report = BenchmarkReport("match", arguments)
    if let directory = arguments.string("workload") {
      try Self.measure(directory, seconds, scripts, report)
      report.end()
      return 0
    }
    let size = try arguments.int("subscriptions", in: 1...10_000_000)
    for count in size.map({ [$0] }) ?? [10_000, 100_000, 1_000_000] {
      let directory = NSTemporaryDirectory() + "petrel-match-\(UUID().uuidString)"
      defer { BenchmarkFolder.remove(directory) }
      try scripts.makeWorkload(count, in: directory)
      try Self.measure(directory, seconds, scripts, report)
    }
    if size == nil {
      MatchingCases.measureFlatness(report)
      MatchingCases.measureIdenticalSubscriptions(report)
    }
    report.end()
    return 0
  }

  private static func measure(
    _ directory: String, _ seconds: Double, _ scripts: MatchingScripts,
    _ report: BenchmarkReport
  ) throws {
    let run = MatchingRun(try MatchingWorkload(directory: directory), report)
    try run.check()
    let rate = run.matchEvents(for: seconds)
    run.evaluatePlainly(beside: rate)
    run.measureMemory()
    if let other = try scripts.runMokaccino(directory, seconds) {
      report.extend(
        MatchingRun.list,
        [
          "mokaccinoEventsPerSecond": .figure(other.events),
          "mokaccinoMissingShare": .figure(other.missing),
          "mokaccinoExtraShare": .figure(other.extra),
          "ratioToMokaccino": .figure(rate / other.events),
        ])
      report.line(
        String(
          format: "  mokaccino: %.0f events/s, misses %.1f %% of the matches, adds %.1f %%; ",
          other.events, other.missing * 100, other.extra * 100)
          + String(format: "Petrel is %.1f times as fast", rate / other.events))
    } else {
      report.line("  mokaccino is not installed: left out")
    }
  }
}
