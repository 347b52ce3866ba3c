import Foundation

/// Saves records over a number of connections, each as fast as the answers come.
enum SaveLoad {
  /// - Returns: the time of each save, in seconds.
  static func run(
    port: Int, path: String, connections: Int, seconds: Double
  ) async throws -> [Double] {
    try await withThrowingTaskGroup(of: [Double].self) { group in
      for _ in 0..<connections {
        group.addTask { try await onThread { try drive(port: port, path: path, seconds: seconds) } }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  private static func drive(port: Int, path: String, seconds: Double) throws -> [Double] {
    let connection = try LoadConnection(port: port)
    let prefix = UUID().uuidString
    let end = monotonicSeconds() + seconds
    var times: [Double] = []
    while true {
      let start = monotonicSeconds()
      guard start < end else { return times }
      try connection.post(
        path,
        EarthquakeRequests.save(
          recordName: "\(prefix)-\(times.count)", station: times.count % 1000))
      times.append(monotonicSeconds() - start)
    }
  }

  /// Runs blocking work on a thread of its own.
  static func onThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try work() }) }.start()
    }
  }
}
