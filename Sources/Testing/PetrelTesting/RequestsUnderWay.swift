internal import Synchronization

/// The number of requests that the cloud is answering, and the tasks that wait until there are
/// none. A lock protects the state.
final class RequestsUnderWay: Sendable {
  /// The values that the lock protects.
  private struct State {
    var count = 0
    /// The tasks that wait until the count is 0.
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// The number of requests under way.
  var count: Int { state.withLock { $0.count } }

  /// Counts a request that begins.
  func begin() {
    state.withLock { $0.count += 1 }
  }

  /// Counts a request that ends. If no other request is under way, resumes the waiting tasks.
  func end() {
    let waiters = state.withLock { state in
      state.count -= 1
      guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until no request is under way. Returns at once if none is.
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
