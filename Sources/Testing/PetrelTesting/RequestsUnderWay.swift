internal import Synchronization

/// A count of the requests that the cloud is answering, for tasks that wait until there are none. A
/// lock protects the state.
final class RequestsUnderWay: Sendable {
  /// The values that the lock protects.
  private struct State {
    var count = 0
    /// The tasks that wait until the count is 0.
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Counts a request.
  func begin() {
    state.withLock { $0.count += 1 }
  }

  /// Ends a counted request. The last one resumes the waiting tasks.
  func end() {
    let waiters = state.withLock { state in
      state.count -= 1
      guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns at the first moment at which no request is under way.
  func finished() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.count > 0 { state.waiters.append(continuation) }
        return state.count == 0
      }
      if isOver { continuation.resume() }
    }
  }
}
