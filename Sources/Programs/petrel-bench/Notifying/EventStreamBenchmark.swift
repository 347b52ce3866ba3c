import CommandInterface
import Foundation
import JSONCoding
import ServerHosting

/// The benchmark of the delay from saving a record to its notification on an event stream: an HTTP
/// answer on which the server sends notifications.
///
/// Each reader is a user with one subscription, whose filter compares a field for equality. Each
/// saved record fires the subscription of one reader. The benchmark saves records over HTTP: first
/// as fast as the server answers, then at an even rate.
struct EventStreamBenchmark {
  var readers: Int
  /// The number of connections that save in the first measurement.
  var connections: Int
  var rate: Int
  var seconds: Double
  var directory: String
  var report: BenchmarkReport
  private static let patience = 60.0

  /// Throws a `UsageError` if not every notification arrives.
  func run() async throws {
    let names = ["feeder"] + (0..<readers).map { "reader\($0)" }
    let (server, tokens) = try await ServerProcess.start(in: directory, users: names)
    defer { server.stop() }
    let streams = try EventStreamReaders(
      port: server.port,
      paths: Self.courierPaths(port: server.port, tokens: Array(tokens.dropFirst())))
    streams.start()
    defer { streams.stop() }
    let requests = requests(token: tokens[0])
    report.set(["measured": "eventStreams", "readers": .figure(readers)])
    report.line("\(readers) event streams, one notification for each record")
    report.line("connections  records/s  mean delay        p50        p99   greatest  processor")

    let load = LoadGenerator(port: server.port, connections: connections, requests: requests)
    let warming = try await load.run(seconds: 1)
    _ = try await delays(of: warming.answered, from: streams)
    var before = ProcessTime.seconds(of: server.identifier)
    let result = try await load.run(seconds: seconds)
    let busy = try await delays(of: result.answered, from: streams)
    show(
      "\(connections)", rate: result.rate, busy,
      processor: ProcessTime.seconds(of: server.identifier) - before)
    before = ProcessTime.seconds(of: server.identifier)
    let saved = try await onThread { [port = server.port] in try feed(requests, port: port) }
    let idle = try await delays(of: saved, from: streams)
    show(
      "paced", rate: Double(saved) / seconds, idle,
      processor: ProcessTime.seconds(of: server.identifier) - before)
  }

  /// Saves the subscription of each reader, and returns the paths at which the readers request
  /// notifications.
  static func courierPaths(port: Int, tokens: [String]) throws -> [String] {
    let connection = try LoadConnection(port: port)
    return try tokens.enumerated().map { number, token in
      try connection.post(
        EarthquakeRequests.path("subscriptions/modify", token: token, device: "browser"),
        EarthquakeRequests.subscribe(stations: number..<number + 1))
      return try ClusterReader.register(token: token, over: connection)
    }
  }

  /// Returns the requests of the load. Each saves a record that fires the subscription of one
  /// reader.
  private func requests(token: String) -> [LoadRequest] {
    let path = EarthquakeRequests.path("records/modify", token: token, device: "feeder")
    let name = String(repeating: "0", count: LoadRequest.nameLength)
    return (0..<max(1_000, readers)).compactMap { number in
      // The requests name the readers in scattered order, so that readers with adjacent numbers are
      // not notified one after the other.
      let body = EarthquakeRequests.save(recordName: name, station: number * 613 % readers)
      return body.firstPlace(of: Array(name.utf8)).map {
        LoadRequest(path: path, body: body, names: [$0], bearsTime: true)
      }
    }
  }

  private func feed(_ requests: [LoadRequest], port: Int) throws -> Int {
    let load = LoadGenerator(port: port, connections: 1, requests: requests)
    return try load.pace(rate: Double(rate), seconds: seconds).answered
  }

  private func delays(
    of count: Int, from streams: EventStreamReaders
  ) async throws -> Percentiles {
    let deadline = monotonicSeconds() + Self.patience
    while streams.count < count, monotonicSeconds() < deadline {
      try await Task.sleep(for: .milliseconds(5))
    }
    let delays = try streams.takeDelays()
    guard delays.count == count else {
      throw UsageError("\(delays.count) notifications came for \(count) records")
    }
    return Percentiles(delays)
  }

  private func show(_ name: String, rate: Double, _ delays: Percentiles, processor: Double) {
    let micros = processor * 1e6 / Double(max(1, delays.count))
    report.row(
      "measurements",
      [
        "connections": .figure(Int(name) ?? 1), "isPaced": .bool(name == "paced"),
        "recordsPerSecond": .figure(rate), "notifications": .figure(delays.count),
        "processorMicrosecondsPerNotification": .figure(micros),
      ], delays.figures())
    report.line(
      "\(name.leftPadding(to: 11))" + String(format: "  %9.0f", rate)
        + "  \(String(format: "%.2f ms", delays.mean * 1000).leftPadding(to: 10))"
        + "  \(delays.text(0.5).leftPadding(to: 9))  \(delays.text(0.99).leftPadding(to: 9))"
        + "  \(delays.text(1).leftPadding(to: 9))"
        + String(format: "  %6.1f us", micros))
  }
}
