import DatabaseAPI
import Measuring
import Synchronization

/// How long the server takes to answer, by operation.
final class RequestTimes: Sendable {
  private let times = Mutex<[String: Histogram]>([:])

  var histograms: [(operation: String, histogram: Histogram)] {
    times.withLock { $0.map { ($0.key, $0.value) } }.sorted { $0.operation < $1.operation }
  }

  /// Takes note of an answer. A reader of the web courier waits for a notification, which says nothing
  /// about the server, so it counts with no time.
  func record(_ operation: String, since start: ContinuousClock.Instant) {
    let isWaiting = operation == OperationTable.courier
    let seconds = isWaiting ? 0 : (ContinuousClock.now - start) / .seconds(1)
    times.withLock {
      $0[operation, default: Histogram(bounds: Histogram.seconds)].record(seconds)
    }
  }
}
