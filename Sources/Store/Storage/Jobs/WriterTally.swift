import Measuring
import SQLEngine
import StoreModel
import Synchronization

/// What the writing threads did, for those who watch it.
final class WriterTally: Sendable {
  private struct State {
    var metrics = StoreMetrics()
    /// When the threads began what they are at, by their numbers.
    var began: [Int: ContinuousClock.Instant] = [:]
  }

  private let state = Mutex(State())

  /// What is known here of how the store is doing.
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

  /// A thread has ended what it began.
  ///
  /// - Parameters:
  ///   - thread: its number.
  ///   - writes: those that were to be committed together.
  ///   - error: why none of them was.
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
  /// What is wrong with the engine or the disk; nil when only a single write was refused.
  fileprivate var fault: String? {
    switch code {
    case .statementFailed, .outcomeUnknown, .full, .diskFailed, .corrupt, .overloaded, .unreachable,
      .serializationFailure:
      reason
    default: nil
    }
  }
}
