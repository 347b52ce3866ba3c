/// The line in which the calls of a sync engine's delegate wait: one call is made at a time, in the
/// order of arrival.
final class DelegateLine: Sendable {
  /// The calls that run and wait.
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var task: Int?
  }

  private let state = Locked(State())

  /// Runs `body` after all that entered before.
  func enter<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    await withCheckedContinuation { waiter in
      let isFree = state.withLock { state in
        if state.isTaken { state.waiting.append(waiter) }
        defer { state.isTaken = true }
        return !state.isTaken
      }
      if isFree { waiter.resume() }
    }
    defer { leave() }
    return try await body()
  }

  private func leave() {
    let next = state.withLock { state in
      if state.waiting.isEmpty { state.isTaken = false }
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }
    next?.resume()
  }

  /// Calls a method of the delegate in a task of its own, so that a cancelled job does not cancel the
  /// delegate's work.
  func call<Result: Sendable>(
    _ body: @escaping @Sendable () async -> Result
  ) async -> Result {
    await Task {
      let task = Self.currentTask
      state.withLock { $0.task = task }
      defer { state.withLock { $0.task = nil } }
      return await body()
    }.value
  }

  /// Whether the caller runs in the task of a delegate's method. False in tasks that the method made.
  var isCurrent: Bool {
    guard let task = Self.currentTask else { return false }
    return state.withLock { $0.task == task }
  }

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}
