import Foundation
import JSONCoding

/// Rounds in which ways to pass the same records take turns. The first way is the baseline.
struct SyncRounds {
  /// A way to pass the records.
  struct Way {
    var name: String
    var title: String
    /// Passes all records, and returns the seconds that this took. The argument is the number of the
    /// round, from 1.
    var pass: (Int) async throws -> Double
  }

  /// The name of the list of figures, and of the member with the name of the way.
  var names: (list: String, way: String)
  var records: Int
  var rounds: Int
  var report: BenchmarkReport

  func run(_ ways: [Way]) async throws {
    report.line("round  " + padded(names.way) + "    records/s     seconds  of the baseline")
    for round in 1...rounds {
      var baseline: Double?
      for way in ways {
        let seconds = try await way.pass(round)
        let rate = Double(records) / seconds
        let first = baseline ?? rate
        baseline = first
        report.row(
          names.list,
          [
            "round": .figure(round), names.way: .string(way.name),
            "recordsPerSecond": .figure(rate), "ratioToBaseline": .figure(rate / first),
          ])
        report.line(
          String(format: "%5d  ", round) + padded(way.title)
            + String(format: "%13.0f  %10.2f  %15.2f", rate, seconds, rate / first))
      }
    }
  }

  private func padded(_ text: String) -> String {
    text.padding(toLength: 28, withPad: " ", startingAt: 0)
  }
}
