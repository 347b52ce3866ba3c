import Storage
import Synchronization
import WebServices

/// Has requests wait for their turns, as ``FairQueue`` decides.
package final class RequestTurns: Sendable {
  /// How waiting is doing.
  package struct Metrics: Sendable, Hashable {
    /// Requests that wait.
    package var waiting = 0
    /// Requests that have waited, and those that were refused, since the start.
    package var delayed = 0
    package var refused = 0
  }

  private typealias Outcome = Result<FairQueue.Ticket, any Error>
  private typealias Continuation = CheckedContinuation<FairQueue.Ticket, any Error>

  private enum Waiter {
    case waiting(Continuation)
    /// It was decided about before it was there.
    case decided(Outcome)
  }

  private struct State {
    var queue: FairQueue
    var count = 0
    var waiters: [Int: Waiter] = [:]
    var metrics = Metrics()
  }

  /// Seconds that a byte of a request or an answer takes to be read or written.
  private static let secondsPerByte = 30e-9

  private let state: Mutex<State>
  private let elapsed: @Sendable () -> Double

  /// - Parameter elapsed: seconds of a clock that nobody sets.
  package init(
    limits: FairQueue.Limits = FairQueue.Limits(),
    elapsed: @escaping @Sendable () -> Double = RequestThrottle.uptime
  ) {
    state = Mutex(State(queue: FairQueue(limits: limits)))
    self.elapsed = elapsed
  }

  package var metrics: Metrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.waiting = state.queue.waiting
      return metrics
    }
  }

  /// Works on a request when it is its turn.
  ///
  /// - Parameters:
  ///   - bytes: of its body.
  ///   - body: answers it.
  /// - Throws: `THROTTLED` when too many of the caller's wait; `CancellationError` when the task was
  ///   cancelled while it waited.
  func take<Answer: Collection & Sendable>(
    for caller: FairQueue.Caller, _ operation: String, bytes: Int,
    _ body: () async throws -> Answer
  ) async throws -> Answer {
    let least = Double(bytes) * Self.secondsPerByte
    let ticket = try await begin(caller, operation, least)
    let time = StoreTime()
    var answered = 0
    defer { end(ticket, after: time.seconds + Double(answered) * Self.secondsPerByte) }
    let answer = try await time.counting(body)
    answered = answer.count
    return answer
  }

  private func begin(
    _ caller: FairQueue.Caller, _ operation: String, _ least: Double
  ) async throws -> FairQueue.Ticket {
    let now = elapsed()
    let (number, verdict) = state.withLock { state in
      state.count += 1
      let verdict = state.queue.enter(
        state.count, of: caller, operation, least: least, at: now)
      switch verdict {
      case .begin: break
      case .wait: state.metrics.delayed += 1
      case .refuse: state.metrics.refused += 1
      }
      return (state.count, verdict)
    }
    switch verdict {
    case .begin(let ticket): return ticket
    case .wait: return try await turn(of: number, caller)
    case .refuse: throw Self.refusal
    }
  }

  private static var refusal: ServiceError {
    ServiceError(
      .throttled, "too many requests of this caller wait already for others of it, which take long",
      retryAfter: 1)
  }

  private func turn(
    of number: Int, _ caller: FairQueue.Caller
  ) async throws -> FairQueue.Ticket {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Outcome? = state.withLock { state in
          if case .decided(let outcome) = state.waiters.removeValue(forKey: number) {
            return outcome
          }
          // Who cancels looks for the waiter afterwards.
          guard !Task.isCancelled else {
            state.queue.withdraw(number, of: caller)
            return .failure(CancellationError())
          }
          state.waiters[number] = .waiting(continuation)
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let continuation: Continuation? = state.withLock {
        state in
        guard case .waiting(let continuation) = state.waiters[number] else { return nil }
        state.waiters[number] = nil
        state.queue.withdraw(number, of: caller)
        return continuation
      }
      continuation?.resume(throwing: CancellationError())
    }
  }

  private func end(_ ticket: FairQueue.Ticket, after seconds: Double) {
    let now = elapsed()
    let decided = state.withLock { state in
      state.queue.leave(ticket, after: seconds, at: now).compactMap { number, verdict in
        let outcome: Outcome
        switch verdict {
        case .begin(let ticket): outcome = .success(ticket)
        case .wait: return nil as (continuation: Continuation, outcome: Outcome)?
        case .refuse:
          state.metrics.refused += 1
          outcome = .failure(Self.refusal)
        }
        guard case .waiting(let continuation) = state.waiters.removeValue(forKey: number) else {
          state.waiters[number] = .decided(outcome)
          return nil
        }
        return (continuation, outcome)
      }
    }
    for (continuation, outcome) in decided { continuation.resume(with: outcome) }
  }
}
