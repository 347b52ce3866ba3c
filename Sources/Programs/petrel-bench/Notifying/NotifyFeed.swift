import APNsSimulation
import CommandInterface
import Foundation
import JSONCoding

/// A load that saves records at an even rate, and measures the time until the push of each record
/// arrives at the APNs simulator.
struct NotifyFeed {
  var port: Int
  var token: String
  /// The number of stations. Each record belongs to a station, and fires the one subscription of
  /// that station.
  var stations: Int
  var rate: Int
  var seconds: Int
  /// The number of connections. They take turns in saving.
  var connections = 1

  private static let patience = 30.0

  /// Saves records for a second without counting them, and then measures.
  ///
  /// - Returns: The seconds from sending each save to the arrival of its push.
  /// - Throws: `UsageError` if not every push arrives.
  func measure(at simulator: APNsSimulator) async throws -> [Double] {
    // The first second is not counted.
    _ = try await measure(at: simulator, records: rate)
    return try await measure(at: simulator, records: rate * seconds)
  }

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

  /// Saves records at their due times, and returns the time at which each was sent, by record name.
  /// If a save is late, the later saves keep their due times.
  ///
  /// - Parameter records: The numbers of the records that this connection saves. Record *n* is due
  ///   *n* divided by ``rate`` seconds after `start`.
  private func feed(
    _ records: StrideTo<Int>, since start: Double, prefix: String
  ) throws -> [String: Double] {
    let connection = try LoadConnection(port: port)
    let path = EarthquakeRequests.path("records/modify", token: token, device: "feeder")
    var departures: [String: Double] = [:]
    for number in records {
      let wait = start + Double(number) / Double(rate) - monotonicSeconds()
      // The pause blocks a thread that does nothing else, so it is more exact than a timer of Swift
      // concurrency.
      if wait > 0 { usleep(UInt32(wait * 1_000_000)) }
      let name = "\(prefix)-\(number)"
      departures[name] = monotonicSeconds()
      try connection.post(
        path, EarthquakeRequests.save(recordName: name, station: number % stations))
    }
    return departures
  }

  /// Returns the record name in the push of a query subscription; `nil` for any other push.
  private static func recordName(of push: ReceivedPush) -> String? {
    // A push that does not come from this benchmark is ignored.
    (try? JSONValue(parsing: push.payload))?["ck"]?["qry"]?["rid"]?.string
  }
}
