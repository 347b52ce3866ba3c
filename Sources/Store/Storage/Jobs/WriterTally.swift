import Measuring
import SQLEngine
import StoreModel
import Synchronization

/// The counts of the writing threads' transactions, for metrics. A mutex guards the counts, so any
/// thread may call the methods.
final class WriterTally: Sendable {
  /// The state that the threads share.
  private struct State {
    /// The counts since the store was opened.
    var metrics = StoreMetrics()
    /// The time at which each thread began its current transaction, by the threads' numbers.
    var began: [Int: ContinuousClock.Instant] = [:]
  }

  private let state = Mutex(State())

  /// The store's metrics with the values that come from the writing threads; the other values are
  /// the defaults. `secondsInTransaction` is the age of the oldest transaction under way.
  var metrics: StoreMetrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.secondsInTransaction = state.began.values.min().map {
        (ContinuousClock.now - $0) / .seconds(1)
      }
      return metrics
    }
  }

  /// Records that a thread begins a transaction.
  func begin(_ thread: Int) {
    state.withLock { $0.began[thread] = .now }
  }

  /// Records that a thread has ended its transaction.
  ///
  /// If the engine and the disk did not fail, an error, such as a refused write, changes no metric
  /// except the size of the log.
  ///
  /// - Parameters:
  ///   - thread: the thread's number.
  ///   - writes: the number of writes in the transaction.
  ///   - loggedPages: the number of pages in the write-ahead log after the transaction.
  ///   - error: the reason why the transaction was rolled back; nil after a commit.
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
  /// The reason of a failure of the engine or the disk; nil for other errors, such as those of a
  /// refused write.
  fileprivate var fault: String? {
    switch code {
    case .statementFailed, .outcomeUnknown, .full, .diskFailed, .corrupt, .overloaded, .unreachable,
      .serializationFailure:
      reason
    default: nil
    }
  }
}
