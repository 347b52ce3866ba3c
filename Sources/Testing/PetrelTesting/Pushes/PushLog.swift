internal import Synchronization

/// The pushes that devices received, up to a limit, and those who wait for the next.
final class PushLog: Sendable {
  private struct State {
    /// Those that are kept begin at `dropped % limit` and go around.
    var pushes: [TestPush] = []
    /// Pushes that are not kept any more.
    var dropped = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
    var isClosed = false
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  func append(_ push: TestPush) {
    let waiters = state.withLock { state in
      if state.pushes.count < limit {
        state.pushes.append(push)
      } else {
        state.pushes[state.dropped % limit] = push
        state.dropped += 1
      }
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Those that are kept, oldest first.
  var all: [TestPush] {
    state.withLock { state in
      let start = state.dropped % limit
      return Array(state.pushes[start...] + state.pushes[..<start])
    }
  }

  /// Ends all reading.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// The push at a position, or the oldest after it that is kept, and the position that follows.
  /// Waits for it; nil when none will come or the task is cancelled.
  func push(from position: Int) async -> (push: TestPush, next: Int)? {
    while !Task.isCancelled {
      let (found, isClosed) = state.withLock { state in
        let place = max(position, state.dropped)
        let found: (push: TestPush, next: Int)? =
          place - state.dropped < state.pushes.count
          ? (state.pushes[place % limit], place + 1) : nil
        return (found, state.isClosed)
      }
      if let found { return found }
      if isClosed { return nil }
      await change(after: position)
    }
    return nil
  }

  /// Comes back when there may be a push at the position, the log is closed, or the task is
  /// cancelled.
  private func change(after position: Int) async {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          let isThere = max(position, state.dropped) - state.dropped < state.pushes.count
          guard !isThere, !state.isClosed, !Task.isCancelled else { return false }
          state.waiters[number] = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
  }
}
