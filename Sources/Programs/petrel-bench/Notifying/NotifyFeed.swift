import APNsSimulation
import CommandInterface
import Foundation
import JSONCoding

/// A load that saves records at an even rate and measures when the push of each arrives at the APNs
/// simulator.
struct NotifyFeed {
  /// The port of the Petrel server.
  var port: Int
  /// The web auth token of the user who saves.
  var token: String
  /// The stations over which the records are spread. Each station has one subscription.
  var stations: Int
  /// Records a second.
  var rate: Int
  /// Seconds of the measurement.
  var seconds: Int
  /// Connections that take turns in saving.
  var connections = 1

  /// The longest wait for the last pushes, in seconds.
  private static let patience = 30.0

  /// Saves records for a second to warm up, then measures.
  ///
  /// - Returns: The seconds from sending each save to the arrival of its push.
  /// - Throws: `UsageError` if not every push arrives.
  func measure(at simulator: APNsSimulator) async throws -> [Double] {
    // The first second is not counted.
    _ = try await measure(at: simulator, records: rate)
    return try await measure(at: simulator, records: rate * seconds)
  }

  /// Saves so many records and returns the delays of their pushes.
  private func measure(at simulator: APNsSimulator, records: Int) async throws -> [Double] {
    let prefix = UUID().uuidString
    let pushes = simulator.watch(bufferingNewest: records * 2)
    let arrivals = Task {
      var arrivals: [String: Double] = [:]
      for await push in pushes where push.isAccepted {
        let now = monotonicSeconds()
        guard let name = Self.recordName(of: push), name.hasPrefix(prefix) else { continue }
        arrivals[name] = now
        if arrivals.count == records { break }
      }
      return arrivals
    }
    let departures = try await withThrowingTaskGroup(of: [String: Double].self) { group in
      let start = monotonicSeconds()
      for first in 0..<connections {
        group.addTask {
          try await onThread {
            try feed(
              stride(from: first, to: records, by: connections), since: start, prefix: prefix)
          }
        }
      }
      return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
    }
    let deadline = Task {
      try await Task.sleep(for: .seconds(Self.patience))
      arrivals.cancel()
    }
    let arrived = await arrivals.value
    deadline.cancel()
    guard arrived.count == records else {
      throw UsageError(
        "\(arrived.count) of \(records) pushes arrived within \(Int(Self.patience)) s")
    }
    return arrived.compactMap { name, arrival in departures[name].map { arrival - $0 } }
  }

  /// Saves records at their due times and returns when each was sent. A late save does not shift
  /// the later ones.
  private func feed(
    _ records: StrideTo<Int>, since start: Double, prefix: String
  ) throws -> [String: Double] {
    let connection = try LoadConnection(port: port)
    let path = EarthquakeRequests.path("records/modify", token: token, device: "feeder")
    var departures: [String: Double] = [:]
    for number in records {
      let wait = start + Double(number) / Double(rate) - monotonicSeconds()
      // The pause blocks a thread that does nothing else, so it is exact.
      if wait > 0 { usleep(UInt32(wait * 1_000_000)) }
      let name = "\(prefix)-\(number)"
      departures[name] = monotonicSeconds()
      try connection.post(
        path, EarthquakeRequests.save(recordName: name, station: number % stations))
    }
    return departures
  }

  /// Returns the record name of a push of a query subscription.
  private static func recordName(of push: ReceivedPush) -> String? {
    // A push that does not come from this benchmark is ignored.
    (try? JSONValue(parsing: push.payload))?["ck"]?["qry"]?["rid"]?.string
  }
}
