import CommandInterface
import Foundation
import JSONCoding
import ServerHosting

/// The command `petrel-bench query`. It measures the response times of many queries: of the first
/// page, and of a deep page (by default the twentieth). The baseline is SQLite alone.
struct QueryBenchmarkCommand: Command {
  let name = "query"
  let example = "petrel-bench query"
  let summary = "Measures the response times of query pages over many records."
  let options: [Arguments.Option] = [
    .init("records", "NUMBER", "records of one type to search (default 1000000)"),
    .init("limit", "NUMBER", "records in a page (default 200)"),
    .init("repeats", "NUMBER", "how often each page is requested (default 20)"),
    .init(
      "warm-up", "NUMBER",
      "requests for each page before that, which fill the server's caches (default 4)"),
    .init("depth", "NUMBER", "the number of the deep page to measure (default 20)"),
    .init("only", "TEXT", "only queries whose printed filter and order contain this text"),
    .init("data", "DIRECTORY", "keeps the records in this directory, and uses existing ones"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let records = QueryRecords(
      count: try arguments.int("records", in: 1_000...100_000_000) ?? 1_000_000)
    let limit = try arguments.int("limit", in: 1...200) ?? 200
    let repeats = try arguments.int("repeats", in: 1...100_000) ?? 20
    let warmUp = try arguments.int("warm-up", in: 1...100_000) ?? 4
    let depth = try arguments.int("depth", in: 2...100_000) ?? 20
    let only = arguments.string("only")
    let directory = arguments.string("data") ?? ".petrel/bench"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let report = BenchmarkReport("query", arguments)
    let store = try await ServerProcess.openStore(in: directory)
    try await records.fill(store, report)
    await store.close()
    let (server, tokens) = try await ServerProcess.start(
      in: directory, users: ["bench"], keepsData: arguments.string("data") != nil)
    defer { server.stop() }

    let baseline = Percentiles(try IndexReadBaseline.measure(at: directory + "-baseline"))
    report.set(
      ["records": .figure(records.count), "recordsPerPage": .figure(limit)],
      baseline.figures("baseline"))
    report.line("\(records.count) records of one type, pages of \(limit), one request at a time")
    report.line(
      "baseline: 200 index entries with SQLite alone, \(baseline.text(0.5)), "
        + "99th percentile \(baseline.text(0.99))")
    report.line(
      "filter                    order            cold p50  first p50        p99  processor"
        + "    deep p50        p99  processor  page")
    let probe = QueryProbe(
      connection: try LoadConnection(port: server.port),
      path: EarthquakeRequests.path("records/query", token: tokens[0], device: "bench"),
      server: server.identifier, limit: limit, warmUp: warmUp, repeats: repeats,
      depth: depth)
    var slow = 0
    var dear = 0
    for query in QueryCase.all(count: records.count)
    where only.map({ query.title.contains($0) }) ?? true {
      let times = try probe.measure(query)
      report.row(
        "measurements",
        [
          "filter": .string(query.condition.title), "order": .string(query.order.title),
          "deepPage": .figure(times.page),
          "ratioToBaseline": .figure(
            times.first.answer.quantile(0.5) / baseline.quantile(0.5)),
        ], times.cold.figures("cold"), times.first.figures("first"),
        times.deep?.figures("deep") ?? [:])
      report.line(
        query.condition.title.padding(to: 24) + "  " + query.order.title.padding(to: 14)
          + times.cold.answer.text(0.5).leftPadding(to: 11)
          + Self.row(times.first) + " " + (times.deep.map { Self.row($0) } ?? "").padding(to: 33)
          + "\(times.page)".leftPadding(to: 6))
      if times.isAbove({ $0.answer }) { slow += 1 }
      if times.isAbove({ $0.processor }) { dear += 1 }
    }
    report.set(["slowQueries": .figure(slow), "dearQueries": .figure(dear)])
    report.line(
      "\(slow) of these have a median above 10 ms, \(dear) one of the server's processor time")
    report.end()
    return 0
  }

  /// Two answer times and the median processor time.
  private static func row(_ page: QueryProbe.Page) -> String {
    page.answer.text(0.5).leftPadding(to: 11) + page.answer.text(0.99).leftPadding(to: 11)
      + page.processor.text(0.5).leftPadding(to: 11)
  }
}

/// The measurement of a query's first page and of a deep page. A query has variants with different
/// values (``QueryCase``).
private struct QueryProbe {
  /// The times of a page that was requested several times.
  struct Page {
    var answer: Percentiles
    var processor: Percentiles

    init(_ times: [(answer: Double, processor: Double)]) {
      answer = Percentiles(times.map(\.answer))
      processor = Percentiles(times.map(\.processor))
    }

    func figures(_ prefix: String) -> [String: JSONValue] {
      answer.figures(prefix).merging(processor.figures(prefix + "Processor")) { $1 }
    }
  }

  /// The times of one query.
  struct Times {
    /// The first page in the first round. Only variant 0 was requested before that round.
    var cold: Page
    /// The first page in the last round, after the warm-up.
    var first: Page
    /// The deep page; `nil` if the query has only one page.
    var deep: Page?
    /// The number of the deep page, counted from 1.
    var page: Int

    /// Returns whether the median time is above 10 ms, for the first page or for the deep page.
    func isAbove(_ times: (Page) -> Percentiles) -> Bool {
      max(times(first).quantile(0.5), deep.map { times($0).quantile(0.5) } ?? 0) > 0.01
    }
  }

  let connection: LoadConnection
  let path: String
  let server: Int32
  let limit: Int
  /// The number of rounds before the measured one, at least 1.
  let warmUp: Int
  /// The number of requests in a round. Each requests the first page of another variant. The deep
  /// page is requested as often, always for variant 0.
  let repeats: Int
  /// The number of the deep page, counted from 1. If the query has fewer pages, its last page is
  /// measured.
  let depth: Int

  func measure(_ query: QueryCase) throws -> Times {
    var marker = try page(query, variant: 0, marker: nil).marker
    let rounds = try (0..<warmUp + 1).map { _ in
      Page(try (0..<repeats).map { try page(query, variant: $0, marker: nil).times })
    }
    let (cold, first) = (rounds[0], rounds[warmUp])
    guard marker != nil else { return Times(cold: cold, first: first, deep: nil, page: 1) }
    var number = 2
    while number < depth, let next = try page(query, variant: 0, marker: marker).marker {
      marker = next
      number += 1
    }
    let deep = try (0..<repeats).map { _ in
      try page(query, variant: 0, marker: marker).times
    }
    return Times(cold: cold, first: first, deep: Page(deep), page: number)
  }

  /// Returns the seconds until the answer, the server's processor seconds, and the continuation
  /// marker for the next page; `nil` after the last page.
  private func page(
    _ query: QueryCase, variant: Int, marker: String?
  ) throws -> (times: (answer: Double, processor: Double), marker: String?) {
    let body = query.body(variant: variant, limit: limit, marker: marker)
    let before = ProcessTime.seconds(of: server)
    let start = monotonicSeconds()
    let answer = try connection.post(path, body)
    let seconds = monotonicSeconds() - start
    let processor = ProcessTime.seconds(of: server) - before
    // The marker is at the end of the answer. To parse the whole answer would take processor time
    // from the server.
    let tail = String(decoding: answer.suffix(2_000), as: UTF8.self)
    let marker = tail.components(separatedBy: #""continuationMarker":""#).dropFirst().first
    return (
      (seconds, processor), marker.flatMap { $0.split(separator: "\"").first.map(String.init) }
    )
  }
}
