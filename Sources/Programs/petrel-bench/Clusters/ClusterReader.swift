import CommandInterface
import Foundation
import JSONCoding
import ServerHosting

/// A reader of an event stream at the first of several servers. The benchmark saves records for
/// this reader at the other servers, and measures the delay of each notification.
///
/// To dispatch a record is to match it against subscriptions and write the notifications. With two
/// servers, the server that saves also dispatches. With three servers, two servers save, and one of
/// them dispatches all records. So half of the notifications involve all three servers.
struct ClusterReader {
  private let streams: EventStreamReaders
  private let generators: [LoadGenerator]
  private static let rate = 20.0
  private static let patience = 10.0

  /// Opens the stream at the first of the servers.
  ///
  /// - Parameters:
  ///   - path: The path at which the reader requests notifications, from ``register(token:over:)``.
  ///   - requests: Requests that each fire one notification.
  init(at servers: [ServerProcess], path: String, requests: [LoadRequest]) throws {
    streams = try EventStreamReaders(port: servers[0].port, paths: [path])
    generators = servers.dropFirst().map {
      var generator = LoadGenerator(port: $0.port, connections: 1, requests: requests)
      generator.toleratesRefusals = true
      return generator
    }
    streams.start()
  }

  /// Registers a reader at the web courier, and returns the path at which the reader requests
  /// notifications.
  static func register(token: String, over connection: LoadConnection) throws -> String {
    let answer = try connection.post(
      EarthquakeRequests.path("tokens/create", token: token, device: "browser"),
      Array(#"{"apnsEnvironment":"development"}"#.utf8))
    guard
      let text = try JSONValue(parsing: Data(answer))["webcourierURL"]?.string,
      let url = URLComponents(string: text)
    else { throw UsageError("tokens/create returned no URL of the web courier") }
    return url.percentEncodedPath + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
  }

  /// Saves records at an even rate, in turn at each server except the first.
  func save(seconds: Double) async throws -> LoadGenerator.Result {
    _ = try streams.takeDelays()
    let each = Self.rate / Double(generators.count)
    return try await withThrowingTaskGroup(of: LoadGenerator.Result.self) { group in
      for (place, generator) in generators.enumerated() {
        let delay = Double(place) / Self.rate
        group.addTask {
          try await onThread { try generator.pace(rate: each, seconds: seconds, delay: delay) }
        }
      }
      return try await group.reduce(into: LoadGenerator.Result()) { $0 += $1 }
    }
  }

  func delays(of count: Int) async throws -> Percentiles {
    let deadline = monotonicSeconds() + Self.patience
    while streams.count < count, monotonicSeconds() < deadline {
      try await Task.sleep(for: .milliseconds(10))
    }
    let delays = try streams.takeDelays()
    guard delays.count >= count else {
      throw UsageError("\(delays.count) notifications came for \(count) records")
    }
    return Percentiles(delays)
  }

  func stop() { streams.stop() }
}
