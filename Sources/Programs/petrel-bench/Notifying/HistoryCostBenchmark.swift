import CloudKitModel
import CommandInterface
import Foundation
import ServerHosting

/// The benchmark of the cost of the change history: the latest changes, which the server keeps so
/// that it can explain its notifications.
///
/// The benchmark saves records in turn on a server that keeps the changes, and on a server that
/// does not. Each server has a store of its own, with the same subscriptions.
struct HistoryCostBenchmark {
  /// The number of subscriptions in each store. Each belongs to another user.
  var subscriptions: Int
  var connections: Int
  var seconds: Double
  /// The number of rounds. Each round measures both servers.
  var rounds: Int
  var directory: String
  var report: BenchmarkReport

  /// The names of the two servers in the report, and their configurations.
  private static let kinds = [("kept", "{}"), ("not kept", #"{"explain": {"changes": 0}}"#)]
  private static let database = DatabaseAddress(
    container: EarthquakeRequests.container, environment: .development, scope: .public, owner: nil)

  func run() async throws {
    report.line(
      "records of eight fields saved over \(connections) connections, \(subscriptions) subscriptions"
    )
    report.line("changes     records/s        p50        p99  processor a record")
    var rates: [[Double]] = [[], []]
    for round in 0..<rounds {
      // The server that is measured second has an advantage, because the machine's caches are
      // filled. So the order alternates.
      for kind in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
        rates[kind].append(try await measure(kind))
      }
    }
    let ratios = zip(rates[0], rates[1]).map { $0 / $1 }.sorted()
    report.set([
      "subscriptions": .figure(subscriptions), "connections": .figure(connections),
      "medianRatioToBaseline": .figure(ratios[ratios.count / 2]),
      "leastRatioToBaseline": .figure(ratios.first ?? .nan),
      "greatestRatioToBaseline": .figure(ratios.last ?? .nan),
    ])
    report.line(
      String(
        format:
          "with kept changes, %.3f of the rate without them (median of %d turns; %.3f to %.3f)",
        ratios[ratios.count / 2], rounds, ratios.first ?? 0, ratios.last ?? 0))
  }

  private func measure(_ kind: Int) async throws -> Double {
    let (name, configuration) = Self.kinds[kind]
    let data = directory + "/history-\(kind)"
    BenchmarkFolder.remove(data)
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    let workload = FeedWorkload(subscriptions: subscriptions)
    let store = try await ServerProcess.openStore(in: data)
    let fill = SubscriptionFill(
      store: store.subscriptions, database: try await store.databases.database(at: Self.database),
      users: subscriptions)
    try await fill.save(subscriptions) { workload.subscription($0) }
    await store.close()
    let (server, tokens) = try await ServerProcess.start(
      in: data, users: ["feeder"], configuration: configuration)
    defer { server.stop() }
    let path = EarthquakeRequests.path("records/modify", token: tokens[0], device: "feeder")
    let load = LoadGenerator(
      port: server.port, connections: connections,
      requests: try FeedRequests(workload: workload, path: path).all())
    _ = try await load.run(seconds: 1)
    let before = ProcessTime.seconds(of: server.identifier)
    let result = try await load.run(seconds: seconds)
    let processor = ProcessTime.seconds(of: server.identifier) - before
    let times = Percentiles(result.times)
    let micros = processor * 1e6 / Double(max(1, result.answered))
    report.row(
      "measurements",
      [
        "changes": .string(name), "recordsPerSecond": .figure(result.rate),
        "processorMicrosecondsPerRecord": .figure(micros),
      ], times.figures())
    report.line(
      name.padding(to: 9) + String(format: "  %9.0f", result.rate)
        + "  \(times.text(0.5).leftPadding(to: 9))  \(times.text(0.99).leftPadding(to: 9))"
        + String(format: "  %15.1f us", micros))
    return result.rate
  }
}
