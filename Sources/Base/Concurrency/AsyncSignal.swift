import Dispatch
import Synchronization

/// A signal for one task, which sleeps until it receives the signal or a time has passed.
///
/// If no task waits, the signal is kept for the next wait. Several kept signals count as one. At
/// most one task may wait at a time.
package final class AsyncSignal: Sendable {
  /// The state under the lock.
  private struct State {
    var isSignalled = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  package init() {}

  package var isAwaited: Bool { state.withLock { $0.waiter != nil } }

  /// Wakes the waiting task, or keeps the signal.
  package func signal() {
    let waiter = state.withLock { state in
      guard let waiter = state.waiter else {
        state.isSignalled = true
        return CheckedContinuation<Void, Never>?.none
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume()
  }

  package func clear() { state.withLock { $0.isSignalled = false } }

  /// Returns after the next signal, or at once if one is kept. A cancellation of the task does not end
  /// the wait.
  package func wait() async {
    await withCheckedContinuation { continuation in
      let isSignalled = state.withLock { state in
        defer { state.isSignalled = false }
        if !state.isSignalled { state.waiter = continuation }
        return state.isSignalled
      }
      if isSignalled { continuation.resume() }
    }
  }

  /// Returns after the next signal, and when the task is cancelled.
  package func waitOrCancellation() async {
    await withTaskCancellationHandler {
      await wait()
    } onCancel: {
      signal()
    }
  }

  /// Returns after the next signal, and after `seconds` at the latest.
  package func wait(atMost seconds: Double) async {
    let alarm = DispatchWorkItem { [self] in signal() }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: alarm)
    await wait()
    alarm.cancel()
  }
}
