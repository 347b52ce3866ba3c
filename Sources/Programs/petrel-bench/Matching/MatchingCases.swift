import ChangeDispatch
import CloudKitModel
import Foundation
import Matching

/// The special cases of the matching benchmark. Each measures one property of the index that finds
/// the subscriptions for an event. An event is the creation of a record.
enum MatchingCases {
  /// The number of changes that the server matches together.
  private static let batchSize = Dispatcher.Configuration().batchSize

  /// Measures the time for an event with more and more subscriptions. The number of matches of an
  /// event stays about the same, so a good index needs about the same time.
  ///
  /// With more subscriptions, values come from a larger range and intervals are narrower.
  static func measureFlatness(_ report: BenchmarkReport) {
    report.line(
      "the same number of matches for each event, among more and more subscriptions, in the "
        + "server's batches of \(batchSize):")
    for count in [10_000, 100_000, 1_000_000] {
      var index = SubscriptionIndex()
      let values = count / 8
      for number in 0..<count {
        let filters: [Filter]
        let value = Int(SplitMix64.bits(of: UInt64(number)) % UInt64(values))
        switch number % 4 {
        case 0: filters = [Filter(.field("author"), .equals, .string("author\(value)"))]
        case 1: filters = [Filter(.field("tags"), .listContains, .string("tag\(value)"))]
        case 2:
          let low = Double(value) / Double(values)
          filters = [
            Filter(.field("price"), .greaterThanOrEquals, .double(low)),
            Filter(.field("price"), .lessThan, .double(low + 8 / Double(count))),
          ]
        default:
          filters = [
            Filter(.field("author"), .equals, .string("author\(value)")),
            Filter(.field("rating"), .lessThan, .int64(5)),
          ]
        }
        insert(filters, number, into: &index)
      }
      let changes = (0..<10_000).map { number in
        let bits = (0..<4).map { SplitMix64.bits(of: UInt64(number * 4 + $0) << 32) }
        let tags = [bits[1], bits[2]].map { RecordValue.string("tag\($0 % UInt64(values))") }
        return creation([
          "author": .string("author\(bits[0] % UInt64(values))"),
          "price": .double(Double(bits[3] >> 11) / 0x1p53), "rating": .int64(3),
          "tags": .list(of: .string, tags),
        ])
      }
      measure(index, changes, "\(count) subscriptions", rounds: 60, report)
    }
  }

  /// Measures a million equal subscriptions of different users. The index evaluates their common
  /// predicate once for each event.
  static func measureIdenticalSubscriptions(_ report: BenchmarkReport) {
    var index = SubscriptionIndex()
    let filters = [
      Filter(.field("author"), .equals, .string("ann")),
      Filter(.field("rating"), .lessThan, .int64(5)),
    ]
    for number in 0..<1_000_000 { insert(filters, number, into: &index) }
    let change = creation(["author": .string("ann"), "rating": .int64(3)])
    measure(
      index, [change], "1000000 identical subscriptions of different users", rounds: 200, report)
  }

  /// Inserts a query subscription into the index. The user's name contains `number`.
  private static func insert(
    _ filters: [Filter], _ number: Int, into index: inout SubscriptionIndex
  ) {
    let kind = Subscription.Kind.query(
      Query(recordType: "FeedItem", filters: filters), zoneID: nil, options: .events)
    index.insert(
      Subscription(subscriptionID: "s", kind: kind),
      for: SubscriptionKey(subscriber: "_user\(number)", subscriptionID: "s"), version: 1)
  }

  private static func creation(_ fields: RecordFields<RecordValue>) -> Change {
    Change(
      event: .recordCreated, zoneID: .default,
      record: Record(
        recordID: RecordID(recordName: "item"), recordType: "FeedItem", fields: fields),
      notificationID: UUID(), timestamp: Timestamp(milliseconds: 0))
  }

  /// Measures the time for an event, with batches of events and with single events, and reports
  /// both.
  ///
  /// - Parameter rounds: How often all events are matched.
  private static func measure(
    _ index: SubscriptionIndex, _ changes: [Change], _ title: String, rounds: Int,
    _ report: BenchmarkReport
  ) {
    var (group, scratch) = (MatchGroup(), MatchScratch())
    let versions = [Int64](repeating: 1, count: changes.count)
    let grouped = seconds(of: changes, rounds: rounds) { places in
      var matches = 0
      var costs = MatchingCosts()
      index.forEachMatch(
        of: changes, in: places, savedBy: versions, charging: &costs, using: &group
      ) { _, _ in matches += 1 }
      return matches
    }
    let single = seconds(of: changes, rounds: rounds) { places in
      var matches = 0
      for place in places {
        index.forEachMatch(of: changes[place], savedBy: 1, using: &scratch) { _ in matches += 1 }
      }
      return matches
    }
    let events = Double(changes.count * (rounds + 1))
    report.row(
      "cases",
      [
        "case": .string(title), "microsecondsPerEvent": .figure(grouped.seconds * 1e6),
        "oneByOneMicrosecondsPerEvent": .figure(single.seconds * 1e6),
        "candidatesPerEvent": .figure(Double(group.candidateCount) / events),
        "matchesPerEvent": .figure(Double(grouped.matches) / events),
      ])
    report.line(
      String(
        format: "  \(title): %.2f us an event, %.1f predicates examined, %.1f matches; ",
        grouped.seconds * 1e6, Double(group.candidateCount) / events,
        Double(grouped.matches) / events)
        + String(format: "one by one %.2f us", single.seconds * 1e6))
  }

  /// Measures the rounds. Returns the average seconds for an event, and the number of matches in
  /// all rounds.
  ///
  /// - Parameter match: Matches the events with these indexes, and returns the number of matches.
  ///
  /// The method first runs one further round, whose time is not measured. This round loads data
  /// into the processor's caches. On a server, this data would be in the caches too. The matches of
  /// this round count.
  private static func seconds(
    of changes: [Change], rounds: Int, _ match: (Range<Int>) -> Int
  ) -> (seconds: Double, matches: Int) {
    var matches = 0
    var begin = 0.0
    for round in 0...rounds {
      if round == 1 { begin = monotonicSeconds() }
      for first in stride(from: 0, to: changes.count, by: batchSize) {
        matches += match(first..<min(changes.count, first + batchSize))
      }
    }
    return ((monotonicSeconds() - begin) / Double(changes.count * rounds), matches)
  }
}
