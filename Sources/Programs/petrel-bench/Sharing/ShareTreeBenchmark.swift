import CommandInterface
import Foundation
import JSONCoding

/// The benchmark of a large shared hierarchy: the time to share its root, and the rate at which a
/// participant reads its feed.
///
/// The baselines are a root without descendants, and the owner's feed of the same zone.
struct ShareTreeBenchmark: Sendable {
  let users: SharingUsers
  /// The records below the root.
  var descendants: Int
  var rounds: Int
  var report: BenchmarkReport

  private static let zone = "Tree"
  /// A text that occurs once in each record of an answer, the share excepted.
  private static let mark = Array(#""recordType":"Earthquake""#.utf8)

  /// Saves and shares the hierarchy, and measures. Blocks the thread.
  ///
  /// - Throws: `UsageError` if a feed does not return all records.
  func run() throws {
    let connection = try LoadConnection(port: users.port)
    try users.makeZone(Self.zone, over: connection)
    try saveDescendants(over: connection)
    for zone in ["Warm-up", "Leaf"] { try users.makeZone(zone, over: connection) }
    // The first share of a server takes longer, whatever is below its root.
    _ = try share("Warm-up", over: connection)
    let leaf = try time { _ = try share("Leaf", over: connection) }
    var guid = ""
    let tree = try time { guid = try share(Self.zone, over: connection) }
    report.line("time to share a root record with a participant")
    report.line("descendants        time  of the baseline")
    for (descendants, seconds) in [(0, leaf), (descendants, tree)] {
      report.row(
        "shares",
        [
          "descendants": .figure(descendants), "milliseconds": .figure(seconds * 1000),
          "ratioToBaseline": .figure(seconds / leaf),
        ])
      report.line(
        String(format: "%11d  %7.2f ms  %15.2f", descendants, seconds * 1000, seconds / leaf))
    }
    try SharingUsers.accept([guid], as: users.participants[0], over: connection)
    try readFeeds(over: connection)
  }

  private func time(_ work: () throws -> Void) throws -> Double {
    let start = monotonicSeconds()
    try work()
    return monotonicSeconds() - start
  }

  private static func operation(_ name: String) -> String {
    let operation = EarthquakeRequests.operation(recordName: name, station: 1)
    guard name != "root" else { return operation }
    return operation.replacingOccurrences(
      of: #""fields":"#, with: #""parent":{"recordName":"root"},"fields":"#)
  }

  private func saveDescendants(over connection: LoadConnection) throws {
    let names = ["root"] + (0..<descendants).map { "below-\($0)" }
    for start in stride(from: 0, to: names.count, by: 200) {
      let operations = names[start..<min(start + 200, names.count)].map(Self.operation)
      try SharingUsers.post(
        "records/modify", in: .private, as: users.owner,
        #"{"zoneID":{"zoneName":"\#(Self.zone)"},"#
          + #""operations":[\#(operations.joined(separator: ","))]}"#, over: connection)
    }
  }

  /// Shares the root of a zone with the first participant. The request saves the root again, because
  /// a new share is saved together with its root.
  private func share(_ zone: String, over connection: LoadConnection) throws -> String {
    let root = Self.operation("root").replacingOccurrences(
      of: #""operationType":"create""#, with: #""operationType":"forceUpdate""#)
    return try users.share(
      zone: zone, root: ("root", root), with: [users.participants[0]], over: connection)
  }

  private func readFeeds(over connection: LoadConnection) throws {
    report.line("the feed of the zone, in pages of 200, one request at a time")
    report.line("round  reader       records/s   page p50        p99  of the baseline")
    let owner = #"{"zoneName":"\#(Self.zone)"}"#
    let shared = #"{"zoneName":"\#(Self.zone)","ownerRecordName":"\#(users.owner.recordName)"}"#
    for round in 1...rounds {
      var baseline = Double.nan
      for (name, user, scope, zone) in [
        ("owner", users.owner, SharingUsers.Scope.private, owner),
        ("participant", users.participants[0], .shared, shared),
      ] {
        let feed = try FeedPages(ofZone: zone, counting: Self.mark) {
          try SharingUsers.post("changes/zone", in: scope, as: user, $0, over: connection)
        }
        guard feed.found == descendants + 1 else {
          throw UsageError(
            "the feed of the \(name) returned \(feed.found) of \(descendants + 1) records")
        }
        if name == "owner" { baseline = feed.rate }
        let times = Percentiles(feed.pages)
        report.row(
          "feeds",
          [
            "round": .figure(round), "reader": .string(name),
            "recordsPerSecond": .figure(feed.rate),
            "ratioToBaseline": .figure(feed.rate / baseline),
          ], times.figures("page"))
        report.line(
          String(format: "%5d  ", round) + name.padding(toLength: 11, withPad: " ", startingAt: 0)
            + String(format: "%11.0f", feed.rate) + times.text(0.5).leftPadding(to: 11)
            + times.text(0.99).leftPadding(to: 11)
            + String(format: "%17.2f", feed.rate / baseline))
      }
    }
  }
}
