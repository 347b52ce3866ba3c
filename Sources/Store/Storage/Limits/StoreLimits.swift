import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// A counter of shared limits, with a thread and a connection of its own. So a draw does not wait
/// for saves, and is one statement without an explicit transaction.
///
/// ``SQLStore`` has one if several servers can share the store. Any task may call the methods; the
/// jobs run one after the other.
final class StoreLimits: SharedLimits {
  /// Seconds between two sweeps.
  private static let sweepInterval = 10.0

  /// The draws and attempts that wait for the thread.
  let queue: JobQueue

  /// Creates the counter; ``work(over:)`` runs its jobs.
  ///
  /// - Parameter waiting: the most draws and attempts that may wait. Further ones fail with
  ///   ``StoreError/Code/overloaded``.
  init(waiting: Int) {
    queue = JobQueue(limit: waiting, role: "requests to be counted")
  }

  /// Draws requests from a caller's bucket.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/Code/unreachable`` without PostgreSQL, or
  ///   ``StoreError/Code/overloaded`` if too many draws wait.
  func draw(_ draw: AllowanceDraw) async throws -> Allowance {
    try await perform { transaction in
      try transaction.connection.withoutTransaction {
        try SharedLimitTable(transaction: transaction).draw(draw)
      }
    }
  }

  /// Decides about a sign-in attempt in a transaction that locks its subjects.
  ///
  /// PostgreSQL ends the transaction if this server leaves it idle for 2 seconds.
  func attempt<Verdict: Sendable>(
    by subjects: [LimitSubject],
    _ decide: @escaping @Sendable (inout [AttemptHistory?], Timestamp) -> Verdict
  ) async throws -> Verdict {
    try await perform { transaction in
      try transaction.connection.withoutTransaction {
        // The few rows concern no other part of the store. If this server stops in the transaction,
        // PostgreSQL ends it.
        try transaction.committing(
          beginning: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 2000"
        ) {
          try SharedLimitTable(transaction: transaction).attempt(by: subjects, decide)
        }
      }
    }
  }

  /// Deletes rows that are no longer needed. The thread does so itself after each ``sweepInterval``
  /// in which it has jobs.
  func sweep() async throws {
    try await perform { transaction in
      try transaction.connection.withoutTransaction {
        try SharedLimitTable(transaction: transaction).sweep()
      }
    }
  }

  /// Runs `body` on the thread, and returns its result.
  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.add(ContinuationJob(continuation, body))
    }
  }

  /// Runs jobs until the queue is closed and empty.
  ///
  /// The method is the body of the thread. Between jobs it sweeps, at most once in each
  /// ``sweepInterval``.
  func work(over connection: StoreConnection) {
    var swept = ContinuousClock.now
    while let jobs = queue.take(most: 1) {
      for job in jobs {
        do {
          try job.run(in: StoreTransaction(over: connection))
          job.finish(nil)
        } catch {
          job.finish(error)
        }
      }
      guard ContinuousClock.now - swept > .seconds(Self.sweepInterval) else { continue }
      swept = .now
      // A failure is ignored: the next sweep deletes the rows.
      try? connection.engine.withoutTransaction {
        try SharedLimitTable(transaction: StoreTransaction(over: connection)).sweep()
      }
    }
  }
}
