import CommandInterface
import Foundation
import JSONCoding
import ServerHosting

/// A reader of an event stream at one of several servers, for whom records are saved at the others, and
/// how long each notification takes from the moment its record is sent.
///
/// With two servers the one that saves dispatches. With three, two save, and one of them dispatches: half
/// of the notifications come by way of three servers.
struct ClusterReader {
  private let streams: EventStreamReaders
  private let generators: [LoadGenerator]

  /// Records a second, at all servers together.
  private static let rate = 20.0
  /// Seconds to wait for the last notifications.
  private static let patience = 10.0

  /// Opens the stream at the first of the servers.
  ///
  /// - Parameters:
  ///   - path: where the reader asks for notifications.
  ///   - requests: what fires one notification each.
  init(at servers: [ServerProcess], path: String, requests: [LoadRequest]) throws {
    streams = try EventStreamReaders(port: servers[0].port, paths: [path])
    generators = servers.dropFirst().map {
      var generator = LoadGenerator(port: $0.port, connections: 1, requests: requests)
      generator.toleratesRefusals = true
      return generator
    }
    streams.start()
  }

  /// Registers the reader's token, and answers the path that it asks for notifications at.
  static func register(token: String, over connection: LoadConnection) throws -> String {
    let answer = try connection.post(
      EarthquakeRequests.path("tokens/create", token: token, device: "browser"),
      Array(#"{"apnsEnvironment":"development"}"#.utf8))
    guard
      let text = try JSONValue(parsing: Data(answer))["webcourierURL"]?.string,
      let url = URLComponents(string: text)
    else { throw UsageError("tokens/create did not tell the courier's URL") }
    return url.percentEncodedPath + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
  }

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

  /// How long so many notifications took, when they have come.
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
