import Measuring
import SQLEngine
import StoreModel
import Synchronization

/// The counts of the writing threads' transactions, for metrics.
final class WriterTally: Sendable {
  /// The state behind the mutex.
  private struct State {
    var metrics = StoreMetrics()
    var began: [Int: ContinuousClock.Instant] = [:]
  }

  private let state = Mutex(State())

  /// `secondsInTransaction` is the age of the oldest transaction under way.
  var metrics: StoreMetrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.secondsInTransaction = state.began.values.min().map {
        (ContinuousClock.now - $0) / .seconds(1)
      }
      return metrics
    }
  }

  func begin(_ thread: Int) {
    state.withLock { $0.began[thread] = .now }
  }

  /// An error that is no fault of the engine or the disk, such as a refused write, changes no
  /// metric except the size of the log.
  func end(_ thread: Int, writes: Int, loggedPages: Int, _ error: (any Error)?) {
    state.withLock { state in
      let seconds = state.began.removeValue(forKey: thread).map {
        (ContinuousClock.now - $0) / .seconds(1)
      }
      state.metrics.logBytes = loggedPages * PageCache.pageSize
      if let error {
        guard let fault = (error as? StoreError)?.fault else { return }
        state.metrics.failures += 1
        state.metrics.fault = fault
        return
      }
      state.metrics.fault = nil
      state.metrics.commits += 1
      state.metrics.writes += writes
      if let seconds { state.metrics.commitSeconds.record(seconds) }
    }
  }
}

extension StoreError {
  fileprivate var fault: String? {
    switch code {
    case .statementFailed, .outcomeUnknown, .full, .diskFailed, .corrupt, .overloaded, .unreachable,
      .serializationFailure:
      reason
    default: nil
    }
  }
}
