import Foundation
import Synchronization

/// The received pushes, with the callers that wait for some of them and the callers that watch all
/// of them. A lock protects the state. Continuations are resumed when the lock is free.
final class PushPublisher: Sendable {
  /// A caller that waits for pushes: the pushes that it needs, and its continuation.
  private struct Wait {
    var waiter: PushWaiter
    var continuation: CheckedContinuation<[ReceivedPush], any Error>
  }

  /// The values that the lock protects.
  private struct State {
    var log: ReceivedPushLog
    var waits: [UInt64: Wait] = [:]
    var watchers: [UInt64: AsyncStream<ReceivedPush>.Continuation] = [:]
    /// The number of the newest caller; 0 before the first.
    var nextID: UInt64 = 0
    var isFinished = false

    mutating func makeID() -> UInt64 {
      nextID += 1
      return nextID
    }
  }

  private let state: Mutex<State>

  init(limit: Int) {
    state = Mutex(State(log: ReceivedPushLog(limit: limit)))
  }

  var pushes: [ReceivedPush] { state.withLock { $0.log.pushes } }

  func removeAll() {
    state.withLock { $0.log.removeAll() }
  }

  /// Keeps a push, sends it into the streams of the watching callers, and resumes the waiting
  /// callers that now have enough pushes.
  func publish(_ push: ReceivedPush) {
    let (satisfied, watchers) = state.withLock { state in
      state.log.append(push)
      var satisfied: [Wait] = []
      for id in state.waits.keys {
        state.waits[id]?.waiter.offer(push)
        if let wait = state.waits[id], wait.waiter.isSatisfied {
          satisfied.append(wait)
          state.waits[id] = nil
        }
      }
      return (satisfied, Array(state.watchers.values))
    }
    for wait in satisfied { wait.continuation.resume(returning: wait.waiter.found) }
    for watcher in watchers { watcher.yield(push) }
  }

  /// Returns a stream of all pushes from now on. If more than `limit` pushes wait in the stream,
  /// the oldest are lost.
  func watch(bufferingNewest limit: Int) -> AsyncStream<ReceivedPush> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: ReceivedPush.self, bufferingPolicy: .bufferingNewest(limit))
    let id = state.withLock { state -> UInt64? in
      guard !state.isFinished else { return nil }
      let id = state.makeID()
      state.watchers[id] = continuation
      return id
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.watchers[id] = nil }
    }
    return stream
  }

  /// Waits until `waiter` has enough pushes, and returns them. The kept pushes count too.
  ///
  /// - Throws: ``APNsSimulationError/Code/timedOut``, ``APNsSimulationError/Code/stopped``, or
  ///   `CancellationError`.
  func wait(_ waiter: PushWaiter, within limit: Duration) async throws -> [ReceivedPush] {
    let id = state.withLock { $0.makeID() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        begin(Wait(waiter: waiter, continuation: continuation), id: id)
        let nanoseconds = limit / .nanoseconds(1)
        DispatchQueue.global().asyncAfter(
          deadline: .now() + .nanoseconds(Int(min(max(nanoseconds, 0), 1e18)))
        ) { [weak self] in
          self?.end(id) { found, kept in
            let last = kept.suffix(3).map(\.description).joined(separator: "\n")
            return APNsSimulationError(
              .timedOut,
              "\(found) of \(waiter.count) pushes arrived within \(limit); the "
                + "simulator has kept \(kept.count) requests"
                + (last.isEmpty ? "" : ", the last:\n\(last)"))
          }
        }
        // If the task was cancelled before `begin`, the handler below has run already and found no
        // waiting caller.
        if Task.isCancelled { end(id) { _, _ in CancellationError() } }
      }
    } onCancel: {
      end(id) { _, _ in CancellationError() }
    }
  }

  /// Counts the kept pushes for a waiting caller. The caller continues to wait if it needs more
  /// pushes.
  private func begin(_ wait: Wait, id: UInt64) {
    var wait = wait
    let isFinished = state.withLock { state in
      for push in state.log.pushes { wait.waiter.offer(push) }
      if !wait.waiter.isSatisfied, !state.isFinished { state.waits[id] = wait }
      return state.isFinished
    }
    if wait.waiter.isSatisfied {
      wait.continuation.resume(returning: wait.waiter.found)
    } else if isFinished {
      wait.continuation.resume(throwing: Self.stopped)
    }
  }

  private func end(_ id: UInt64, _ error: (_ found: Int, _ kept: [ReceivedPush]) -> any Error) {
    let (wait, kept) = state.withLock { ($0.waits.removeValue(forKey: id), $0.log.pushes) }
    guard let wait else { return }
    wait.continuation.resume(throwing: error(wait.waiter.found.count, kept))
  }

  /// Ends the streams of the watching callers. The waiting callers get the error
  /// ``APNsSimulationError/Code/stopped``.
  func finish() {
    let (waits, watchers) = state.withLock { state in
      state.isFinished = true
      let ended = (Array(state.waits.values), Array(state.watchers.values))
      state.waits = [:]
      state.watchers = [:]
      return ended
    }
    for wait in waits { wait.continuation.resume(throwing: Self.stopped) }
    for watcher in watchers { watcher.finish() }
  }

  private static let stopped = APNsSimulationError(.stopped, "the simulator was stopped")
}
