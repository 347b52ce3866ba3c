import Storage
import Synchronization
import WebServices

/// The queue in which requests of the protocol wait for their turns. It executes the decisions of
/// ``FairQueue``.
///
/// A lock protects the state. A waiting request occupies no thread.
package final class RequestTurns: Sendable {
  /// The numbers of waiting, delayed and refused requests of a server.
  package struct Metrics: Sendable, Hashable {
    /// Requests that wait now.
    package var waiting = 0
    /// Requests that had to wait since the server started, also those that were refused or
    /// cancelled later.
    package var delayed = 0
    /// Requests that were refused, since the server started.
    package var refused = 0
  }

  /// The end of a wait: the ticket, or the reason why the request does not begin.
  private typealias Outcome = Result<FairQueue.Ticket, any Error>
  /// The suspended task of a waiting request.
  private typealias Continuation = CheckedContinuation<FairQueue.Ticket, any Error>

  /// A waiting request. The decision may be made before the task is suspended, or after it.
  private enum Waiter {
    /// The task is suspended until the decision.
    case waiting(Continuation)
    /// The decision was made before the task was suspended.
    case decided(Outcome)
  }

  /// The state behind the lock.
  private struct State {
    var queue: FairQueue
    /// The number of the last request; the first one has the number 1.
    var count = 0
    var waiters: [Int: Waiter] = [:]
    var metrics = Metrics()
  }

  /// Seconds that the server is assumed to need for reading a byte of a request or writing one of
  /// an answer: 30 ns. The value is a constant; the server does not measure it.
  private static let secondsPerByte = 30e-9

  private let state: Mutex<State>
  private let elapsed: @Sendable () -> Double

  /// `elapsed` is a monotonic clock in seconds.
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

  /// Executes a request when its turn comes.
  ///
  /// ``FairQueue`` records how long requests of this caller and operation take. This time is the
  /// time of the store's threads, and ``secondsPerByte`` for each byte of the request and of the
  /// answer. The part for the bytes of the request is known before the request begins: it is the
  /// parameter `least` of ``FairQueue``.
  ///
  /// A request is long if it may take at least ``FairQueue/Limits/long`` seconds, and the caller's
  /// recent long requests of the operation together take at least ``FairQueue/Limits/little``. Long
  /// requests take turns; see ``FairQueue``.
  ///
  /// - Parameter body: answers the request. The `count` of its result is the answer's size in
  ///   bytes.
  /// - Throws: `THROTTLED` if too many requests wait. `CancellationError` if the task was cancelled
  ///   while it waited. Errors of `body`.
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

  /// Returns the ticket of a request when the request may begin.
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

  /// The error for a refused request: too many requests of the caller, or of all callers, are
  /// waiting.
  private static var refusal: ServiceError {
    ServiceError(
      .throttled, "too many requests are waiting; try again later",
      retryAfter: 1)
  }

  /// Suspends the task until the decision about its request, and returns the ticket.
  private func turn(
    of number: Int, _ caller: FairQueue.Caller
  ) async throws -> FairQueue.Ticket {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Outcome? = state.withLock { state in
          if case .decided(let outcome) = state.waiters.removeValue(forKey: number) {
            return outcome
          }
          // If the task was cancelled earlier, the cancellation handler ran and found no waiter,
          // and no code would resume this task. So the flag is checked under the lock, before the
          // waiter is stored.
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

  /// Ends a request, and resumes the tasks of the requests that were decided about.
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
