import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// Counts shared limits on a thread and a connection of its own. So a draw does not wait for saves,
/// and is one statement without an explicit transaction.
final class StoreLimits: SharedLimits {
  /// Seconds between two sweeps.
  private static let sweepInterval = 10.0

  let queue: JobQueue

  /// - Parameter waiting: the most draws and attempts that may wait.
  init(waiting: Int) {
    queue = JobQueue(limit: waiting, role: "requests to be counted")
  }

  func draw(_ draw: AllowanceDraw) async throws -> Allowance {
    try await perform { transaction in
      try transaction.connection.withoutTransaction {
        try SharedLimitTable(transaction: transaction).draw(draw)
      }
    }
  }

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

  /// Deletes rows that are no longer needed.
  func sweep() async throws {
    try await perform { transaction in
      try transaction.connection.withoutTransaction {
        try SharedLimitTable(transaction: transaction).sweep()
      }
    }
  }

  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.add(ContinuationJob(continuation, body))
    }
  }

  /// Runs jobs until the queue is closed and empty.
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
