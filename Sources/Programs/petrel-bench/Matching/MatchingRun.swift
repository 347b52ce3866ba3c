import CloudKitModel
import CommandInterface
import Foundation
import Matching

/// The measurement of one workload (``MatchingWorkload``) on the index that finds the subscriptions
/// for an event.
struct MatchingRun {
  private let workload: MatchingWorkload
  private let index: SubscriptionIndex
  private let report: BenchmarkReport

  /// The name of the report's list that contains the figures.
  static let list = "measurements"

  /// Builds the index, and reports the insertions a second.
  ///
  /// A small index is built repeatedly, until at least 200,000 subscriptions are inserted. Other
  /// work on the machine would affect a shorter measurement too much.
  init(_ workload: MatchingWorkload, _ report: BenchmarkReport) {
    self.workload = workload
    self.report = report
    let count = workload.subscriptions.count
    let start = monotonicSeconds()
    var index = Self.index(workload.subscriptions)
    var inserted = count
    while inserted < 200_000 {
      index = Self.index(workload.subscriptions)
      inserted += count
    }
    let rate = Double(inserted) / (monotonicSeconds() - start)
    self.index = index
    report.row(
      Self.list,
      [
        "subscriptions": .figure(count), "predicates": .figure(index.entryCount),
        "insertionsPerSecond": .figure(rate),
      ])
    report.line(
      String(
        format: "%d subscriptions, %d predicates, inserted at %.0f a second", count,
        index.entryCount, rate))
  }

  /// Returns an index of the subscriptions. Each user has ten of them.
  private static func index(_ subscriptions: [Subscription]) -> SubscriptionIndex {
    var index = SubscriptionIndex()
    for (number, subscription) in subscriptions.enumerated() {
      index.insert(subscription, for: key(subscription, number), version: 1)
    }
    return index
  }

  private static func key(_ subscription: Subscription, _ number: Int) -> SubscriptionKey {
    SubscriptionKey(
      subscriber: "_user\(number / 10)", subscriptionID: subscription.subscriptionID)
  }

  /// Throws a `UsageError` if an event matches other subscriptions than expected.
  func check() throws {
    for (change, expected) in zip(workload.changes, workload.expected) {
      let found = index.matches(change, savedBy: 1).map(\.key.subscriptionID)
      guard found.sorted() == expected else {
        throw UsageError(
          "'\(change.record?.recordID.recordName ?? "")' matches other subscriptions than expected")
      }
    }
    report.line("  the first \(workload.expected.count) events match the expected subscriptions")
  }

  /// Matches all events repeatedly on one thread, for at least a number of seconds, and reports the
  /// times.
  func matchEvents(for seconds: Double) -> Double {
    var scratch = MatchScratch()
    var matches = 0
    var times: [Double] = []
    let end = monotonicSeconds() + seconds
    while monotonicSeconds() < end {
      for change in workload.changes {
        let begin = monotonicSeconds()
        index.forEachMatch(of: change, savedBy: 1, using: &scratch) { _ in matches += 1 }
        times.append(monotonicSeconds() - begin)
      }
    }
    let count = Double(times.count)
    let rate = count / times.reduce(0, +)
    let percentiles = Percentiles(times)
    report.extend(
      Self.list,
      [
        "eventsPerSecond": .figure(rate), "meanMicroseconds": .figure(1e6 / rate),
        "p99Microseconds": .figure(percentiles.quantile(0.99) * 1e6),
        "p999Microseconds": .figure(percentiles.quantile(0.999) * 1e6),
        "matchesPerEvent": .figure(Double(matches) / count),
        "candidatesPerEvent": .figure(Double(scratch.candidateCount) / count),
        "matchingPredicatesPerEvent": .figure(Double(scratch.matchedCount) / count),
      ])
    report.line(
      String(
        format: "  %.0f events/s, mean %.2f us, p99 %.1f us, p99.9 %.1f us", rate, 1e6 / rate,
        percentiles.quantile(0.99) * 1e6, percentiles.quantile(0.999) * 1e6))
    report.line(
      String(
        format: "  an event: %.1f subscriptions match; %.1f predicates are examined, %.1f match",
        Double(matches) / count, Double(scratch.candidateCount) / count,
        Double(scratch.matchedCount) / count))
    return rate
  }

  /// Measures the baseline: the evaluation of every subscription on each event, for about two
  /// seconds. The method does nothing if there are more than 10,000 subscriptions.
  ///
  /// - Parameter rate: The events a second with the index.
  func evaluatePlainly(beside rate: Double) {
    guard workload.subscriptions.count <= 10_000 else { return }
    var (matches, events) = (0, 0)
    let begin = monotonicSeconds()
    for change in workload.changes where monotonicSeconds() - begin < 2 {
      for subscription in workload.subscriptions where subscription.matches(change) {
        matches += 1
      }
      events += 1
    }
    let plain = Double(events) / (monotonicSeconds() - begin)
    report.extend(
      Self.list,
      ["baselineEventsPerSecond": .figure(plain), "ratioToBaseline": .figure(rate / plain)])
    report.line(
      String(
        format: "  plain evaluation: %.0f events/s, %.1f matches an event; ", plain,
        Double(matches) / Double(events))
        + String(format: "the index is %.0f times as fast", rate / plain))
  }

  /// Measures the memory of a second index, and then the time to remove nine tenths of its
  /// subscriptions. The method does nothing if there are fewer than 100,000 subscriptions.
  ///
  /// The memory of the first index cannot be measured, because this index reuses memory that was
  /// allocated while the workload was read.
  func measureMemory() {
    guard workload.subscriptions.count >= 100_000 else { return }
    let before = Self.residentBytes()
    var second = Self.index(workload.subscriptions)
    let whole = Self.residentBytes() - before
    let identifiers = workload.subscriptions.reduce(0) { $0 + $1.subscriptionID.utf8.count }
    let count = Double(workload.subscriptions.count)
    let (wholeBytes, start) = (second.bytes, monotonicSeconds())
    var longest = 0.0
    for (number, subscription) in workload.subscriptions.enumerated() where number % 10 > 0 {
      let begin = monotonicSeconds()
      second.remove(Self.key(subscription, number))
      longest = max(longest, monotonicSeconds() - begin)
    }
    let rate = 0.9 * count / (monotonicSeconds() - start)
    let rest = Self.residentBytes() - before
    report.extend(
      Self.list,
      [
        "bytesPerSubscription": .figure(Double(whole) / count),
        "identifierBytesPerSubscription": .figure(Double(identifiers) / count),
        "residentBytes": .figure(whole), "residentAfterRemovalBytes": .figure(rest),
        "tableBytes": .figure(wholeBytes), "tableAfterRemovalBytes": .figure(second.bytes),
        "removalsPerSecond": .figure(rate), "longestRemovalMilliseconds": .figure(longest * 1e3),
      ])
    report.line(
      String(
        format: "  %.0f bytes a subscription, %.0f of them its ID; ", Double(whole) / count,
        Double(identifiers) / count)
        + String(
          format: "%.0f MB in all, %.0f MB after removing nine in ten (its tables: %.0f and %.0f)",
          Double(whole) / 1e6, Double(rest) / 1e6, Double(wholeBytes) / 1e6,
          Double(second.bytes) / 1e6))
    report.line(
      String(
        format: "  removed at %.0f a second, the longest one took %.1f ms", rate, longest * 1e3))
  }

  private static func residentBytes() -> Int {
    // The file always exists on Linux.
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let fields = text.split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4096 : 0
  }
}
