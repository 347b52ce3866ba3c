import APNsSimulation
import CloudKitModel
import Foundation
import JSONCoding
import ServerHosting

/// The benchmark of the delay from saving a record to its push, with very many subscriptions. It
/// saves records at an even rate. Each record fires one subscription.
///
/// The pushes go to an APNs simulator in this process.
struct PushDelayBenchmark {
  /// The number of subscriptions to the record type, each to the records of one station.
  var subscriptions: Int
  var users: Int
  /// The number of connections. They take turns in saving.
  var connections: Int
  var rate: Int
  var seconds: Int
  var directory: String
  var report: BenchmarkReport

  func run() async throws {
    BenchmarkFolder.remove(directory)
    defer { BenchmarkFolder.remove(directory) }
    try await fill()
    let files = try SimulatorFiles(in: directory + "-apns")
    defer { BenchmarkFolder.remove(files.directory) }
    let simulator = try await APNsSimulator.start(files.configuration(port: 0))
    let settings = files.settings(host: "127.0.0.1", port: simulator.port, topic: "org.example")
    let configuration: JSONValue = [
      "containers": .object([EarthquakeRequests.container: ["apns": settings]])
    ]
    let (server, tokens) = try await ServerProcess.start(
      in: directory, users: ["feeder"], configuration: configuration.text, keepsData: true)
    defer { server.stop() }
    var feed = NotifyFeed(
      port: server.port, token: tokens[0], stations: subscriptions, rate: rate, seconds: seconds)
    feed.connections = connections
    let times = Percentiles(try await feed.measure(at: simulator))
    report.set(
      [
        "measured": "pushDelay", "subscriptions": .figure(subscriptions), "users": .figure(users),
        "connections": .figure(connections), "recordsPerSecond": .figure(rate),
        "pushes": .figure(times.count),
      ], times.figures())
    report.line(
      "\(times.count) pushes at \(rate) saves a second over \(connections) connections, each from "
        + "the save's sending: mean \(String(format: "%.2f ms", times.mean * 1000)), "
        + "p50 \(times.text(0.5)), p99 \(times.text(0.99)), greatest \(times.text(1))")
    await simulator.stop()
  }

  /// Saves the subscriptions and devices directly into the store, without HTTP.
  private func fill() async throws {
    let store = try await ServerProcess.openStore(in: directory)
    let start = monotonicSeconds()
    let fill = SubscriptionFill(
      store: store.subscriptions,
      database: try await store.databases.database(at: FanOutRecords.address(.public)),
      users: users)
    try await fill.save(subscriptions) { Self.subscription(toStation: $0) }
    try await fill.eachUser { user in
      try await store.devices.saveDeviceToken(FanOutRecords.device(of: user))
    }
    await store.close()
    report.line(
      String(
        format: "%d subscriptions of %d users with a device each, made in %.0f s", subscriptions,
        users, monotonicSeconds() - start))
  }

  private static func subscription(toStation station: Int) -> Subscription {
    var info = NotificationInfo()
    info.alertBody = "An earthquake"
    info.desiredKeys = ["magnitude"]
    return Subscription(
      subscriptionID: "station-\(station)",
      kind: .query(
        Query(
          recordType: "Earthquake",
          filters: [Filter(.field("station"), .equals, .int64(Int64(station)))]),
        zoneID: nil, options: .firesOnRecordCreation), notificationInfo: info)
  }
}
