import Synchronization

/// Lets any number of tasks wait until nothing is left to do.
final class Settlement: Sendable {
  private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

  /// Comes back at once when `isSettled` holds, otherwise with the next ``come()``.
  ///
  /// Whoever makes the condition true calls ``come()`` afterwards, without a lock that `isSettled`
  /// needs.
  func wait(unless isSettled: () -> Bool) async {
    await withCheckedContinuation { continuation in
      let isOver = waiters.withLock { waiters in
        if isSettled() { return true }
        waiters.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// The condition holds: everyone who waits goes on.
  func come() {
    let all = waiters.withLock { waiters in
      defer { waiters = [] }
      return waiters
    }
    for waiter in all { waiter.resume() }
  }
}
