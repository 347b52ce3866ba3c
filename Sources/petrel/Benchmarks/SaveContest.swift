import Foundation

/// Loads several servers in turns with the same number of connections, so that whatever else the
/// machine does meets all of them.
struct SaveContest {
  let connections: Int
  /// Records in each request.
  let records: Int
  private var results: [(name: String, result: LoadGenerator.Result, processor: Double)] = []

  static let heading =
    "server      connections  records/request  records/s        p50        p99  processor  yardstick"

  init(connections: Int, records: Int) {
    self.connections = connections
    self.records = records
  }

  mutating func run(_ targets: [any SaveTarget], rounds: Int, seconds: Double) async throws {
    results = targets.map { ($0.name, LoadGenerator.Result(), 0) }
    for round in 0..<rounds {
      for (index, target) in targets.enumerated() {
        let load = target.load(connections: connections, records: records)
        // A second to warm up, uncounted.
        if round == 0 { _ = try await load.run(seconds: 1) }
        let before = ProcessTime.seconds(of: target.process)
        results[index].result += try await load.run(seconds: seconds)
        results[index].processor += ProcessTime.seconds(of: target.process) - before
      }
    }
  }

  /// Prints a line for each server, with its processor time for each record, and the ratios of the first to the others.
  func report(yardstick: Double) {
    for (name, result, processor) in results {
      let times = Percentiles(result.times)
      let rate = result.rate * Double(records)
      Output.line(
        "\(name.padding(to: 10))  "
          + String(format: "%11d  %15d  %9.0f", connections, records, rate)
          + "  \(times.text(0.5).leftPadding(to: 9))  \(times.text(0.99).leftPadding(to: 9))"
          + String(
            format: "  %6.1f us  %9.2f",
            processor * 1e6 / Double(max(1, result.times.count * records)), rate / yardstick))
    }
    guard let first = results.first else { return }
    for (name, result, _) in results.dropFirst() where result.rate > 0 {
      Output.line(
        String(
          format: "            %.2f times the records of \(name)",
          first.result.rate / result.rate))
    }
  }
}
