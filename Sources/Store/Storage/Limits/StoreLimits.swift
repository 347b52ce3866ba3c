import CloudKitModel
import Foundation
import StoreModel

/// The service for the limits that servers count together. ``Store`` has it if it is opened for a
/// server on PostgreSQL.
///
/// The service has a thread and a connection of its own, so it does not wait for writes of records.
/// The thread runs the jobs one after the other.
final class StoreLimits: SharedLimits {
  /// The least seconds between two sweeps after jobs.
  private static let sweepInterval = 10.0

  let queue: JobQueue

  /// - Parameter waiting: the most draws and attempts that may wait. Further ones fail with
  ///   ``StoreError/Code/overloaded``.
  init(waiting: Int) {
    queue = JobQueue(limit: waiting, role: "requests to be counted")
  }

  func draw(_ draw: AllowanceDraw) async throws -> Allowance {
    try await perform { try SharedLimitTable(transaction: $0).draw(draw) }
  }

  func attempt<Verdict: Sendable>(
    by subjects: [LimitSubject],
    _ decide: @escaping @Sendable (inout [AttemptHistory?], Timestamp) -> Verdict
  ) async throws -> Verdict {
    try await perform { transaction in
      // The transaction locks only these few rows. If this server hangs, PostgreSQL ends the
      // transaction, so that other servers do not wait for long.
      try transaction.committing(
        beginning: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 2000"
      ) {
        try SharedLimitTable(transaction: transaction).attempt(by: subjects, decide)
      }
    }
  }

  /// Sweeps at once. The thread also does so after a job, at most once in ``sweepInterval``.
  func sweep() async throws {
    try await perform { try SharedLimitTable(transaction: $0).sweep() }
  }

  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.add(
        ContinuationJob(continuation) { transaction in
          try transaction.connection.withoutTransaction { try body(transaction) }
        })
    }
  }

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
      // A failure is ignored, because the next sweep deletes the same rows.
      try? connection.engine.withoutTransaction {
        try SharedLimitTable(transaction: StoreTransaction(over: connection)).sweep()
      }
    }
  }
}
