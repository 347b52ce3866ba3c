import CommandInterface
import Foundation

/// A comparison of several servers under the same load. The servers take turns, so other work on
/// the machine affects all of them.
struct SaveContest {
  let connections: Int
  let records: Int
  private var results: [Line] = []

  /// The figures of one server, over all rounds.
  private struct Line {
    var name: String
    var result = LoadGenerator.Result()
    var processor = 0.0
    /// The processor seconds of this process, which sends the load.
    var load = 0.0
  }

  static let heading =
    "server      connections  records/request  records/s        p50        p99  processor"
    + "       load  baseline"

  init(connections: Int, records: Int) {
    self.connections = connections
    self.records = records
  }

  /// Runs the load on each server in each round, and stores the results.
  mutating func run(_ targets: [any SaveTarget], rounds: Int, seconds: Double) async throws {
    results = targets.map { Line(name: $0.name) }
    for round in 0..<rounds {
      for (index, target) in targets.enumerated() {
        let load = target.load(connections: connections, records: records)
        // In the first round, one second of load is not counted: the server fills its caches then.
        if round == 0 { _ = try await load.run(seconds: 1) }
        let server = ProcessTime.seconds(of: target.process)
        let own = ProcessTime.seconds(of: getpid())
        results[index].result += try await load.run(seconds: seconds)
        results[index].processor += ProcessTime.seconds(of: target.process) - server
        results[index].load += ProcessTime.seconds(of: getpid()) - own
      }
    }
  }

  /// Reports the results: a line of the table and the figures for each server. They contain the
  /// processor time of the server and of the load for each record, and the ratio to the baseline.
  ///
  /// - Parameter baseline: The appends a second of ``DurabilityBaseline``.
  func show(_ report: BenchmarkReport, baseline: Double) {
    for line in results {
      let times = Percentiles(line.result.times)
      let rate = line.result.rate * Double(records)
      let saved = Double(max(1, line.result.times.count * records))
      report.row(
        "measurements",
        [
          "server": .string(line.name), "connections": .figure(connections),
          "recordsPerRequest": .figure(records), "recordsPerSecond": .figure(rate),
          "serverProcessorMicrosecondsPerRecord": .figure(line.processor * 1e6 / saved),
          "loadProcessorMicrosecondsPerRecord": .figure(line.load * 1e6 / saved),
          "ratioToBaseline": .figure(rate / baseline),
          "ratioToFirstServer": .figure(
            line.result.rate / (results.first?.result.rate ?? .nan)),
        ], times.figures())
      report.line(
        "\(line.name.padding(to: 10))  "
          + String(format: "%11d  %15d  %9.0f", connections, records, rate)
          + "  \(times.text(0.5).leftPadding(to: 9))  \(times.text(0.99).leftPadding(to: 9))"
          + String(
            format: "  %6.1f us  %5.1f us  %9.2f", line.processor * 1e6 / saved,
            line.load * 1e6 / saved, rate / baseline))
    }
    guard let first = results.first else { return }
    for line in results.dropFirst() where line.result.rate > 0 {
      report.line(
        String(
          format: "            %.2f times the records of \(line.name)",
          first.result.rate / line.result.rate))
    }
  }
}
