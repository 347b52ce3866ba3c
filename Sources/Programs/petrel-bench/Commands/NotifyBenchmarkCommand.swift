import APNsSimulation
import CommandInterface
import Foundation
import JSONCoding
import ServerHosting

/// The command `petrel-bench notify`. It measures the delay from saving a record to its push, or to
/// its notification on an event stream. The options choose one of several benchmarks.
struct NotifyBenchmarkCommand: Command {
  let name = "notify"
  let example = "petrel-bench notify"
  let summary = "Measures the time from saving a record to the arrival of its push."
  let options: [Arguments.Option] = [
    .init(
      "subscriptions", "LIST",
      "saved subscriptions on the record type (default 1,100,500); above 500: saves/s with "
        + "this number and with none, and whether every match is logged"),
    .init("rate", "NUMBER", "records saved a second, evenly spaced (default 200)"),
    .init("seconds", "SECONDS", "how long each is measured (default 5)"),
    .init(
      "users", "NUMBER", "users of the subscriptions, if there are more than 500 (default 100000)"),
    .init(
      "connections", "NUMBER",
      "connections that save records, with many subscriptions or with readers (default 32)"),
    .init(
      "paced", nil, "with more than 500 subscriptions: measures the time to each push, at --rate"),
    .init(
      "readers", "NUMBER",
      "measures this number of event stream readers, each with its own equality subscription"),
    .init(
      "idle-readers", "NUMBER",
      "measures the memory of this number of waiting long polls, then of as many event streams"),
    .init(
      "fan-out", "NUMBER",
      "measures one record that fires this number of subscriptions, until all are logged"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
    BenchmarkReport.option,
  ]

  private static let deviceToken = String(repeating: "d4", count: 32)

  func run(_ arguments: Arguments) async throws -> Int32 {
    let counts = try arguments.ints("subscriptions", in: 1...10_000_000) ?? [1, 100, 500]
    let rate = try arguments.int("rate", in: 1...10_000) ?? 200
    let seconds = try arguments.int("seconds", in: 1...3600) ?? 5
    let connections = try arguments.int("connections", in: 1...1000) ?? 32
    let directory = arguments.string("data") ?? ".petrel/bench"
    let report = BenchmarkReport("notify", arguments)
    if let number = try arguments.int("fan-out", in: 1...10_000_000) {
      try await FanOutBenchmark(subscriptions: number, directory: directory, report: report).run()
      report.end()
      return 0
    }
    if let number = try arguments.int("idle-readers", in: 1...10_000) {
      try await IdleReadersBenchmark(readers: number, directory: directory, report: report).run()
      report.end()
      return 0
    }
    if let number = try arguments.int("readers", in: 1...10_000) {
      try await EventStreamBenchmark(
        readers: number, connections: connections, rate: rate, seconds: Double(seconds),
        directory: directory, report: report
      ).run()
      report.end()
      return 0
    }
    if let most = counts.max(), most > 500 {
      guard counts.count == 1 else {
        throw UsageError("--subscriptions takes one number when it is above 500")
      }
      let users = try arguments.int("users", in: 1...1_000_000) ?? 100_000
      if arguments.flag("paced") {
        try await PushDelayBenchmark(
          subscriptions: most, users: min(users, most), connections: connections, rate: rate,
          seconds: seconds, directory: directory, report: report
        ).run()
        report.end()
        return 0
      }
      try await ManySubscriptionsBenchmark(
        subscriptions: most, users: min(users, most), connections: connections,
        seconds: Double(seconds), directory: directory, report: report
      ).run()
      report.end()
      return 0
    }
    if arguments.flag("paced") {
      throw UsageError("--paced needs --subscriptions with a number above 500")
    }
    let files = try SimulatorFiles(in: directory + "-apns")
    defer { BenchmarkFolder.remove(files.directory) }
    let simulator = try await APNsSimulator.start(files.configuration(port: 0))
    let settings = files.settings(host: "127.0.0.1", port: simulator.port, topic: "org.example")
    let configuration: JSONValue = [
      "containers": .object([EarthquakeRequests.container: ["apns": settings]])
    ]
    let (server, tokens) = try await ServerProcess.start(
      in: directory, users: ["feeder", "subscriber"], configuration: configuration.text)
    defer { server.stop() }
    let subscriber = try LoadConnection(port: server.port)
    try subscriber.post(
      EarthquakeRequests.path("tokens/register", token: tokens[1], device: "phone"),
      EarthquakeRequests.register(deviceToken: Self.deviceToken))

    report.set(["recordsPerSecond": .figure(rate), "seconds": .figure(seconds)])
    report.line("one push for each record, \(rate) records a second, from the save's sending")
    report.line("subscriptions    pushes        p50        p99    greatest  of the first row's p50")
    var baseline: Double?
    var subscribed = 0
    for count in counts.sorted() {
      try Self.subscribe(subscribed..<count, over: subscriber, token: tokens[1])
      subscribed = max(subscribed, count)
      let feed = NotifyFeed(
        port: server.port, token: tokens[0], stations: count, rate: rate, seconds: seconds)
      let times = Percentiles(try await feed.measure(at: simulator))
      let first = baseline ?? times.quantile(0.5)
      baseline = first
      report.row(
        "measurements",
        [
          "subscriptions": .figure(count), "pushes": .figure(times.count),
          "ratioToBaseline": .figure(times.quantile(0.5) / first),
        ], times.figures())
      report.line(
        String(
          format: "%13d  %8d  %@  %@  %@  %.2f", count, times.count,
          times.text(0.5).leftPadding(to: 9), times.text(0.99).leftPadding(to: 9),
          times.text(1).leftPadding(to: 10), times.quantile(0.5) / first))
    }
    await simulator.stop()
    report.end()
    return 0
  }

  private static func subscribe(
    _ stations: Range<Int>, over connection: LoadConnection, token: String
  ) throws {
    let path = EarthquakeRequests.path("subscriptions/modify", token: token, device: "phone")
    for start in stride(from: stations.lowerBound, to: stations.upperBound, by: 200) {
      try connection.post(
        path,
        EarthquakeRequests.subscribe(stations: start..<min(start + 200, stations.upperBound)))
    }
  }
}
