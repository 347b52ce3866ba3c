import APNsSimulation
import CommandInterface
import Foundation
import JSONCoding

/// Saves records at an even rate and times the arrival of the push that each fires.
struct NotifyFeed {
  var port: Int
  var token: String
  /// The records are spread over so many stations, each of which has one subscription.
  var stations: Int
  /// Records a second.
  var rate: Int
  var seconds: Int
  /// That take turns in saving.
  var connections = 1

  /// How long to wait for the last pushes.
  private static let patience = 30.0

  /// - Returns: the seconds from each save's sending to its push.
  /// - Throws: ``UsageError`` when not every push arrives.
  func measure(at simulator: APNsSimulator) async throws -> [Double] {
    // A second to warm up, uncounted.
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

  /// Saves the records; a save that is late does not make the later ones wait for their turn.
  private func feed(
    _ records: StrideTo<Int>, since start: Double, prefix: String
  ) throws -> [String: Double] {
    let connection = try LoadConnection(port: port)
    let path = EarthquakeRequests.path("records/modify", token: token, device: "feeder")
    var departures: [String: Double] = [:]
    for number in records {
      let wait = start + Double(number) / Double(rate) - monotonicSeconds()
      // On a thread of its own, which keeps time.
      if wait > 0 { usleep(UInt32(wait * 1_000_000)) }
      let name = "\(prefix)-\(number)"
      departures[name] = monotonicSeconds()
      try connection.post(
        path, EarthquakeRequests.save(recordName: name, station: number % stations))
    }
    return departures
  }

  private static func recordName(of push: ReceivedPush) -> String? {
    // A push that is not of this benchmark is passed over.
    (try? JSONValue(parsing: push.payload))?["ck"]?["qry"]?["rid"]?.string
  }
}
