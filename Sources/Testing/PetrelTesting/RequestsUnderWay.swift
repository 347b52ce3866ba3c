internal import Synchronization

/// Counts the requests that are being answered, for those who wait until none is.
final class RequestsUnderWay: Sendable {
  private struct State {
    var count = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func begin() {
    state.withLock { $0.count += 1 }
  }

  func end() {
    let waiters = state.withLock { state in
      state.count -= 1
      guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Comes back at the first moment at which no request is under way.
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
