import Measuring
import SQLEngine
import StoreModel
import Synchronization

/// The counts of the writing threads' work, for metrics. A mutex guards them, so each thread may
/// call the methods.
final class WriterTally: Sendable {
  /// The state that the threads share.
  private struct State {
    /// The counts since the store was opened.
    var metrics = StoreMetrics()
    /// When each thread began its current work, by the threads' numbers.
    var began: [Int: ContinuousClock.Instant] = [:]
  }

  private let state = Mutex(State())

  /// The part of the store's metrics that the writers know. The age of the transaction under way is
  /// that of the oldest one.
  var metrics: StoreMetrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.secondsInTransaction = state.began.values.min().map {
        (ContinuousClock.now - $0) / .seconds(1)
      }
      return metrics
    }
  }

  /// Notes that a thread has begun a transaction.
  func begin(_ thread: Int) {
    state.withLock { $0.began[thread] = .now }
  }

  /// Notes that a thread has finished the transaction that it began.
  ///
  /// An error of a single write, such as a refused one, changes no metric except the size of the
  /// log.
  ///
  /// - Parameters:
  ///   - thread: the thread's number.
  ///   - writes: the number of writes to be committed together.
  ///   - loggedPages: the pages in the write-ahead log after the transaction.
  ///   - error: the reason why none of the writes was committed; nil if they were.
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
  /// The text of a failure of the engine or the disk; nil if only a single write was refused.
  fileprivate var fault: String? {
    switch code {
    case .statementFailed, .outcomeUnknown, .full, .diskFailed, .corrupt, .overloaded, .unreachable,
      .serializationFailure:
      reason
    default: nil
    }
  }
}
