import Synchronization

/// Lets any number of tasks wait until nothing is left to do.
final class Settlement: Sendable {
  private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

  /// Returns at once if `isSettled` is true, otherwise at the next ``come()``.
  ///
  /// A caller that makes the condition true calls ``come()`` afterwards, without holding a lock
  /// that `isSettled` needs.
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

  /// The condition is true: resumes all waiting tasks.
  func come() {
    let all = waiters.withLock { waiters in
      defer { waiters = [] }
      return waiters
    }
    for waiter in all { waiter.resume() }
  }
}
