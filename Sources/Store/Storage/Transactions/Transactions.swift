import CloudKitModel
import SQLEngine
import StoreModel

/// The queues of transactions: writes for ``StoreWriter``, reads for ``StoreReader``. Callers wait
/// in continuations, never on a thread.
///
/// ```swift
/// let user = try await transactions.read { try UserTable(transaction: $0).user(named: name) }
/// ```
struct Transactions: Sendable {
  let context: StoreContext
  let writer: StoreWriter
  /// The writer's queue if the store has no readers.
  let reads: JobQueue
  private(set) var vacancy: DatabaseAddress?

  func readingVacancy(at address: DatabaseAddress) -> Transactions {
    var transactions = self
    transactions.vacancy = address
    return transactions
  }

  /// Runs `body` on a writing thread, together with other writes, and returns when its writes are
  /// durable.
  ///
  /// `body` may run several times, and only the last run is committed, so it must change nothing
  /// outside of the store.
  ///
  /// - Parameters:
  ///   - locks: the locks on a shared store. If `body` needs others, the transaction is repeated
  ///     with them.
  ///   - needs: data that is read together with the needs of other writes.
  /// - Throws: the error of `body`, whose writes are then rolled back;
  ///   ``StoreError/Code/overloaded`` if too many writes wait; ``StoreError/Code/outcomeUnknown``
  ///   if the commit may have succeeded.
  func write<Value: Sendable>(
    locking locks: WriteLocks = .everything, rows: Int = 1, isDispatch: Bool = false,
    needs: [ReadNeeds] = [],
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(
          continuation, locks: locks, rows: rows, isDispatch: isDispatch,
          needs: needs, body))
    }
  }

  /// Runs `body` on a reading thread, in a transaction with one snapshot of the store.
  ///
  /// `body` may run several times: twice on PostgreSQL if the connection is lost, and more often in
  /// a store without reading threads, where a read shares its transaction with writes.
  ///
  /// - Throws: the error of `body`; ``StoreError/Code/overloaded`` if too many reads wait;
  ///   `CancellationError` if the read was cancelled (``AbandonableReads``).
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    var body = body
    if let vacancy {
      body = { [body] transaction in
        // A read on the writer's thread shares its transaction with other jobs.
        transaction.vacancy = vacancy
        defer { transaction.vacancy = nil }
        return try body(transaction)
      }
    }
    return try await perform(body)
  }

  /// Runs `body` outside of a transaction. Its one statement must not depend on the schema, which
  /// may be older than that of the store.
  func readOne<Value: Sendable>(
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    try await perform(isOutsideTransactions: true, body)
  }

  private func perform<Value: Sendable>(
    isOutsideTransactions: Bool = false,
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) async throws -> Value {
    // A read on the writer's thread is not cancelled, because it shares a transaction with other
    // jobs.
    guard AbandonableReads.areOn, reads !== writer.queue else {
      return try await withCheckedThrowingContinuation { continuation in
        reads.add(
          ContinuationJob(continuation, isOutsideTransactions: isOutsideTransactions, body))
      }
    }
    let cancellation = ReadCancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        reads.add(
          ContinuationJob(
            continuation, isOutsideTransactions: isOutsideTransactions,
            cancellation: cancellation, body))
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}

/// The option that a task's reads of the store are cancelled with the task.
///
/// By default they are not, so that background work such as dispatching can finish. The server sets
/// the option for requests: a request whose client has disconnected needs no answer. A store in
/// memory has no reading threads: its reads run in the transactions of the writing thread and are
/// never cancelled.
public enum AbandonableReads {
  /// Child tasks inherit the value.
  @TaskLocal static var areOn = false

  /// Runs `body` with the option. If the task is cancelled, reads in `body` throw
  /// `CancellationError`: a waiting read does not begin, and the engine interrupts a running one.
  /// Writes are never cancelled, because one transaction has the writes of several callers.
  ///
  /// ```swift
  /// let answer = try await AbandonableReads.within { try await endpoint.respond(to: request) }
  /// ```
  public static func within<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await $areOn.withValue(true, operation: body)
  }
}
