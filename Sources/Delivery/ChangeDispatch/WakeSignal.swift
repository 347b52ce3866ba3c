import Dispatch
import Synchronization

/// A signal for one task, which sleeps until it receives the signal or a time has passed.
///
/// If no task waits, the signal is kept for the next wait. Several kept signals count as one. At
/// most one task may wait at a time.
final class WakeSignal: Sendable {
  /// The state under the lock.
  private struct State {
    /// Whether a signal is kept.
    var isSignalled = false
    /// The waiting task; `nil` if none waits.
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// The state.
  private let state = Mutex(State())

  /// Wakes the waiting task, or keeps the signal.
  func signal() {
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

  /// Returns after the next signal, or at once if one is kept.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isSignalled = state.withLock { state in
        defer { state.isSignalled = false }
        if !state.isSignalled { state.waiter = continuation }
        return state.isSignalled
      }
      if isSignalled { continuation.resume() }
    }
  }

  /// Returns after the next signal, and after `seconds` at the latest.
  func wait(atMost seconds: Double) async {
    let alarm = DispatchWorkItem { [self] in signal() }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: alarm)
    await wait()
    alarm.cancel()
  }
}
