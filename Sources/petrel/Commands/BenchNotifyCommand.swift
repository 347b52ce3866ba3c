import APNsSimulation
import Foundation
import JSONCoding

/// `petrel bench notify`
enum BenchNotifyCommand: Command {
  static let name = "bench notify"
  static let summary = "Measures the time from saving a record to the arrival of its push."
  static let options: [Arguments.Option] = [
    .init("subscriptions", "LIST", "saved subscriptions on the record type (default 1,100,1000)"),
    .init("rate", "NUMBER", "records saved a second, evenly spaced (default 200)"),
    .init("seconds", "SECONDS", "how long each is measured (default 5)"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
  ]

  private static let deviceToken = String(repeating: "d4", count: 32)

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let counts = try arguments.ints("subscriptions", in: 1...1000) ?? [1, 100, 1000]
    let rate = try arguments.int("rate", in: 1...10_000) ?? 200
    let seconds = try arguments.int("seconds", in: 1...3600) ?? 5
    let directory = arguments.string("data") ?? ".petrel/bench"
    let files = try SimulatorFiles(in: directory + "-apns")
    defer { try? FileManager.default.removeItem(atPath: files.directory) }
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
      EarthquakeRequests.register(deviceToken: deviceToken))

    Output.line("one push for each record, \(rate) records a second, from the save's sending")
    Output.line("subscriptions    pushes        p50        p99    greatest  of the first row's p50")
    var yardstick: Double?
    var subscribed = 0
    for count in counts.sorted() {
      try subscribe(subscribed..<count, over: subscriber, token: tokens[1])
      subscribed = max(subscribed, count)
      let feed = NotifyFeed(
        port: server.port, token: tokens[0], stations: count, rate: rate, seconds: seconds)
      let times = Percentiles(try await feed.measure(at: simulator))
      let first = yardstick ?? times.quantile(0.5)
      yardstick = first
      Output.line(
        String(
          format: "%13d  %8d  %@  %@  %@  %.2f", count, times.count,
          times.text(0.5).leftPadding(to: 9), times.text(0.99).leftPadding(to: 9),
          times.text(1).leftPadding(to: 10), times.quantile(0.5) / first))
    }
    await simulator.stop()
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
