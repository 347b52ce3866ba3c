import Synchronization

/// The list of the tasks that wait until a condition is true, such as "no work is left".
final class Settlement: Sendable {
  /// The waiting tasks, under a lock.
  private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

  /// Returns at once if `isSettled` is true, otherwise at the next ``come()``.
  ///
  /// Code that makes the condition true must then call ``come()``. The caller of this method must
  /// not hold a lock that `isSettled` needs.
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

  /// Resumes all waiting tasks. Call the method when the condition has become true.
  func come() {
    let all = waiters.withLock { waiters in
      defer { waiters = [] }
      return waiters
    }
    for waiter in all { waiter.resume() }
  }
}
