import CloudKitModel
import Foundation
import Matching

/// `petrel bench match`
enum BenchMatchCommand: Command {
  static let name = "bench match"
  static let summary = "Measures how fast changes find the subscriptions that fire on them."
  static let options: [Arguments.Option] = [
    .init("workload", "DIRECTORY", "where subscriptions.jsonl and events.jsonl are"),
    .init("seconds", "SECONDS", "how long events are matched (default 5)"),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard let directory = arguments.string("workload") else {
      throw UsageError("--workload DIRECTORY is missing")
    }
    let seconds = Double(try arguments.int("seconds", in: 1...600) ?? 5)
    let workload = try MatchingWorkload(directory: directory)
    let residentBefore = residentBytes()
    var index = SubscriptionIndex()
    let start = monotonicSeconds()
    for subscription in workload.subscriptions {
      index.insert(
        subscription,
        for: SubscriptionKey(subscriber: "_bench", subscriptionID: subscription.subscriptionID),
        version: 1)
    }
    let building = monotonicSeconds() - start
    let count = workload.subscriptions.count
    Output.line(
      String(
        format: "%d subscriptions, %d predicates, built at %.0f a second, %.0f bytes each", count,
        index.entryCount, Double(count) / building,
        Double(residentBytes() - residentBefore) / Double(count)))
    for (change, expected) in zip(workload.changes, workload.expected) {
      let found = index.matches(change, savedBy: 1).map(\.key.subscriptionID)
      guard found == expected else {
        throw UsageError("'\(change.record?.recordID.recordName ?? "")' finds other subscriptions")
      }
    }
    Output.line("the first \(workload.expected.count) events find what they should")
    var scratch = MatchScratch()
    var matches = 0
    var times: [Double] = []
    let begin = monotonicSeconds()
    var last = begin
    while last - begin < seconds {
      let changes = workload.changes.span
      for place in changes.indices {
        index.forEachMatch(of: changes[place], savedBy: 1, using: &scratch) { _ in matches += 1 }
        let now = monotonicSeconds()
        times.append(now - last)
        last = now
      }
    }
    let percentiles = Percentiles(times)
    Output.line(
      String(
        format: "%.0f events/s, %.1f matches an event", Double(times.count) / (last - begin),
        Double(matches) / Double(times.count)) + ", mean "
        + String(format: "%.2f us", (last - begin) / Double(times.count) * 1e6)
        + ", p99 \(percentiles.text(0.99)), p99.9 \(percentiles.text(0.999))")
    return 0
  }

  private static func residentBytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let fields = text.split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4096 : 0
  }
}
