import SQLEngine
import StoreModel

/// Runs what callers ask of a store as transactions, on the threads of the store: what writes on those of
/// ``StoreWriter``, what reads on those of ``StoreReader``. Callers wait in continuations, never on a
/// thread.
///
/// ```swift
/// let user = try await transactions.read { try UserTable(transaction: $0).user(named: name) }
/// ```
struct Transactions: Sendable {
  let context: StoreContext
  let writer: StoreWriter
  /// Where reads wait; the writer's own queue when the store has no readers.
  let reads: JobQueue

  /// Runs `body` on a writer's thread, and returns when what it wrote is durable.
  ///
  /// - Parameters:
  ///   - locks: what it has for itself, on a store that others write to as well.
  ///   - gathersWrites: See ``StoreJob/gathersWrites``.
  func write<Value: Sendable>(
    locking locks: WriteLocks = .everything, gathersWrites: Bool = false,
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(continuation, locks: locks, gathersWrites: gathersWrites, body))
    }
  }

  /// Runs `body` on a reader's thread.
  ///
  /// - Throws: `CancellationError` when the read was given up; see ``AbandonableReads``.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    // Where the writer's thread reads too, a read is part of a transaction with others.
    guard AbandonableReads.areOn, reads !== writer.queue else {
      return try await withCheckedThrowingContinuation { continuation in
        reads.add(ContinuationJob(continuation, body))
      }
    }
    let cancellation = ReadCancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        reads.add(ContinuationJob(continuation, cancellation: cancellation, body))
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}
