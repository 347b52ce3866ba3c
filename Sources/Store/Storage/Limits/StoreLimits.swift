import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// Has a thread of its own, with a connection of its own, count what servers count together. So nobody
/// who saves is waited for, and a draw is one statement without a transaction around it.
final class StoreLimits: SharedLimits {
  /// Seconds between two sweeps.
  private static let sweepInterval = 10.0

  let queue: JobQueue

  /// - Parameter waiting: draws and attempts that may wait.
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
        // A few rows that no other part of the store looks at. PostgreSQL ends the transaction when the
        // server that began it does not go on.
        try transaction.committing(
          beginning: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 2000"
        ) {
          try SharedLimitTable(transaction: transaction).attempt(by: subjects, decide)
        }
      }
    }
  }

  /// Deletes what is of no use any more.
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

  /// Works until the queue is closed and empty.
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
      // What stays for want of a connection goes with the next sweep.
      try? connection.engine.withoutTransaction {
        try SharedLimitTable(transaction: StoreTransaction(over: connection)).sweep()
      }
    }
  }
}
