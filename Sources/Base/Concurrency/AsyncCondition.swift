import Synchronization

/// The tasks that wait until a condition is true, such as "no work is left".
package final class AsyncCondition: Sendable {
  private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

  package init() {}

  /// Returns at once if `isTrue`, otherwise at the next ``becomeTrue()``.
  ///
  /// Code that makes the condition true must then call ``becomeTrue()``. The caller of this method must
  /// not hold a lock that `isTrue` needs.
  package func wait(until isTrue: () -> Bool) async {
    await withCheckedContinuation { continuation in
      let isOver = waiters.withLock { waiters in
        if isTrue() { return true }
        waiters.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Resumes all waiting tasks. Call the method when the condition has become true.
  package func becomeTrue() {
    let all = waiters.withLock { waiters in
      defer { waiters = [] }
      return waiters
    }
    for waiter in all { waiter.resume() }
  }
}
