import CommandInterface
import Foundation
import ServerHosting

/// The command `petrel-bench changes`. It measures the rate at which a client reads the change feed
/// of a zone page by page. The baseline is SQLite alone.
struct ChangesBenchmarkCommand: Command {
  let name = "changes"
  let example = "petrel-bench changes"
  let summary = "Measures how fast a client pages through a zone's change feed."
  let options: [Arguments.Option] = [
    .init("records", "NUMBER", "changes in the zone (default 100000)"),
    .init("rounds", "NUMBER", "how often they are read (default 3)"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let count = try arguments.int("records", in: 1_000...10_000_000) ?? 100_000
    let rounds = try arguments.int("rounds", in: 1...1_000) ?? 3
    let directory = arguments.string("data") ?? ".petrel/bench"
    let (server, tokens) = try await ServerProcess.start(in: directory, users: ["bench"])
    defer { server.stop() }
    let connection = try LoadConnection(port: server.port)
    func post(_ operation: String, _ body: String) throws -> [UInt8] {
      let path = EarthquakeRequests.path(operation, token: tokens[0], device: "bench")
      return try connection.post(
        path.replacingOccurrences(of: "/public/", with: "/private/"), Array(body.utf8))
    }
    _ = try post(
      "zones/modify",
      #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Feed"}}}]}"#)
    for start in stride(from: 0, to: count, by: 200) {
      let operations = (start..<min(start + 200, count)).map {
        EarthquakeRequests.operation(recordName: "quake-\($0)", station: $0 % 1_000)
      }
      _ = try post(
        "records/modify",
        #"{"zoneID":{"zoneName":"Feed"},"operations":[\#(operations.joined(separator: ","))]}"#)
    }
    let baseline = try RowReadBaseline.measure(
      at: directory + "-baseline", rows: count, bytes: 160)

    let report = BenchmarkReport("changes", arguments)
    report.set([
      "records": .figure(count), "recordsPerPage": 200,
      "baselineRowsPerSecond": .figure(baseline),
    ])
    report.line(
      "\(count) changes of records of five fields, in pages of 200, one request at a time")
    report.line("baseline: \(Int(baseline)) rows a second with SQLite alone, by an index")
    report.line("round   records/s   page p50        p99   of the baseline")
    for round in 1...rounds {
      let feed = try FeedPages(ofZone: #"{"zoneName":"Feed"}"#, counting: Self.mark) {
        try post("changes/zone", $0)
      }
      guard feed.found == count else {
        throw UsageError("the feed returned \(feed.found) of \(count) records")
      }
      let times = Percentiles(feed.pages)
      report.row(
        "measurements",
        [
          "round": .figure(round), "recordsPerSecond": .figure(feed.rate),
          "ratioToBaseline": .figure(feed.rate / baseline),
        ], times.figures("page"))
      report.line(
        String(format: "%5d  %10.0f", round, feed.rate) + times.text(0.5).leftPadding(to: 11)
          + times.text(0.99).leftPadding(to: 11)
          + String(format: "%19.2f", feed.rate / baseline))
    }
    report.end()
    return 0
  }

  /// A text that occurs once in each record of an answer.
  private static let mark = Array("quake-".utf8)
}
