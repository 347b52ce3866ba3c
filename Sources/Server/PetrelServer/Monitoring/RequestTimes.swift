import DatabaseAPI
import Measuring
import Synchronization

/// The histograms of the times from a request to its answer, by operation. A `Mutex` protects them.
final class RequestTimes: Sendable {
  private let times = Mutex<[String: Histogram]>([:])

  /// The histograms in alphabetical order of the operations.
  var histograms: [(operation: String, histogram: Histogram)] {
    times.withLock { $0.map { ($0.key, $0.value) } }.sorted { $0.operation < $1.operation }
  }

  /// Records an answer. A poll of the web courier counts with 0 seconds, because its time to wait
  /// for a notification does not measure the server.
  ///
  /// - Parameter start: the time at which the whole request had arrived.
  func record(_ operation: String, since start: ContinuousClock.Instant) {
    let isWaiting = operation == Routes.courierName
    let seconds = isWaiting ? 0 : (ContinuousClock.now - start) / .seconds(1)
    times.withLock {
      $0[operation, default: Histogram(bounds: Histogram.seconds)].record(seconds)
    }
  }
}
