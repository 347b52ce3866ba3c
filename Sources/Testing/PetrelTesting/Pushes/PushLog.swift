internal import Synchronization

/// The pushes that devices received, up to a limit, and the tasks that wait for the next. A lock
/// protects the state.
///
/// Pushes have positions from 0, in the order of their delivery.
final class PushLog: Sendable {
  /// The values that the lock protects.
  private struct State {
    /// The kept pushes as a ring: the oldest is at the index `dropped % limit`.
    var pushes: [TestPush] = []
    /// The number of pushes that are no longer kept, which is also the position of the oldest kept
    /// one.
    var dropped = 0
    /// The waiting tasks by their numbers.
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    /// The number of the last waiting task.
    var nextWaiter = 0
    var isClosed = false
  }

  /// The most pushes kept, at least 1.
  private let limit: Int
  private let state = Mutex(State())

  /// Creates an empty log; a limit below 1 counts as 1.
  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// Adds a push and resumes the waiting tasks. A full log drops its oldest push.
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

  /// The kept pushes, oldest first.
  var all: [TestPush] {
    state.withLock { state in
      let start = state.dropped % limit
      return Array(state.pushes[start...] + state.pushes[..<start])
    }
  }

  /// Ends all readings: no more pushes will come.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns the push at a position, or the oldest kept one after it, with the next position. It
  /// waits for a push that has not come; nil when the log is closed or the task is cancelled.
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

  /// Returns when there may be a push at the position, the log is closed, or the task is cancelled.
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
