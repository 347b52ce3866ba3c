import Foundation

/// Loads several servers in turns with the same number of connections, so that whatever else the
/// machine does meets all of them.
struct SaveContest {
  let connections: Int
  /// Records in each request.
  let records: Int
  private var results: [(name: String, result: LoadGenerator.Result)] = []

  init(connections: Int, records: Int) {
    self.connections = connections
    self.records = records
  }

  mutating func run(_ targets: [any SaveTarget], rounds: Int, seconds: Double) async throws {
    results = targets.map { ($0.name, LoadGenerator.Result()) }
    for round in 0..<rounds {
      for (index, target) in targets.enumerated() {
        let load = target.load(connections: connections, records: records)
        // A second to warm up, uncounted.
        if round == 0 { _ = try await load.run(seconds: 1) }
        results[index].result += try await load.run(seconds: seconds)
      }
    }
  }

  /// Prints a line for each server, and the ratios of the first to the others.
  func report(yardstick: Double) {
    for (name, result) in results {
      let times = Percentiles(result.times)
      let rate = result.rate * Double(records)
      Output.line(
        "\(name.padding(to: 10))  "
          + String(format: "%11d  %15d  %9.0f", connections, records, rate)
          + "  \(times.text(0.5).leftPadding(to: 9))  \(times.text(0.99).leftPadding(to: 9))"
          + String(format: "  %9.2f", rate / yardstick))
    }
    guard let first = results.first else { return }
    for (name, result) in results.dropFirst() where result.rate > 0 {
      Output.line(
        String(
          format: "            %.2f times the records of \(name)",
          first.result.rate / result.rate))
    }
  }
}
