internal import Synchronization

/// The newest pushes that devices received, up to a limit, and the tasks that wait for the next
/// push. A lock protects the state.
///
/// Pushes have positions from 0, in the order of their delivery.
final class PushLog: Sendable {
  /// The values that the lock protects.
  private struct State {
    /// The kept pushes in a ring buffer. The oldest is at the index `dropped % limit`.
    var pushes: [TestPush] = []
    /// The number of pushes that were deleted because the log was full. It is also the position of
    /// the oldest kept push.
    var dropped = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    /// The number of the newest waiting task; 0 before the first.
    var nextWaiter = 0
    var isClosed = false
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// Adds a push and resumes the waiting tasks. If the log is full, the new push replaces the
  /// oldest one.
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

  var all: [TestPush] {
    state.withLock { state in
      let start = state.dropped % limit
      return Array(state.pushes[start...] + state.pushes[..<start])
    }
  }

  /// Closes the log, because no more pushes will come. Resumes the waiting tasks, whose calls of
  /// ``push(from:)`` then return nil.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns the push at a position, with the next position. If that push was deleted, returns the
  /// oldest kept push. If it has not come yet, waits for it. Returns nil if the log is closed and
  /// has no such push, or if the task is cancelled.
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

  /// Waits until there may be a push at the position, the log is closed, or the task is cancelled.
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
