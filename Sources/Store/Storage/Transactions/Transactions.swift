import SQLEngine
import StoreModel

/// Runs transactions on the store's threads: writes on those of ``StoreWriter``, reads on those of
/// ``StoreReader``. Callers wait in continuations, never on a thread.
///
/// ```swift
/// let user = try await transactions.read { try UserTable(transaction: $0).user(named: name) }
/// ```
struct Transactions: Sendable {
  let context: StoreContext
  let writer: StoreWriter
  /// The queue of reads; the writer's queue if the store has no readers.
  let reads: JobQueue

  /// Runs `body` on a writing thread, and returns when its writes are durable.
  ///
  /// - Parameters:
  ///   - locks: the locks of the write, on a shared store.
  ///   - gathersWrites: see ``StoreJob/gathersWrites``.
  func write<Value: Sendable>(
    locking locks: WriteLocks = .everything, gathersWrites: Bool = false,
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(continuation, locks: locks, gathersWrites: gathersWrites, body))
    }
  }

  /// Runs `body` on a reading thread.
  ///
  /// - Throws: `CancellationError` if the read was cancelled; see ``AbandonableReads``.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    // On the writer's thread, a read shares a transaction with other jobs.
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
