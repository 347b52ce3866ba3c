import SQLEngine
import StoreModel

/// A job for one of the store's threads.
protocol StoreJob: AnyObject, Sendable {
  /// Whether the job leaves writes in ``StoreTransaction/gathered``, and reads no rows that earlier
  /// gathered writes concern: the value index and the versions of zones.
  var gathersWrites: Bool { get }
  /// The locks that the job holds while it runs.
  var locks: WriteLocks { get }
  /// Whether the writer runs the job by itself, in no transaction.
  var isOutsideTransactions: Bool { get }
  /// The cancellation of a read; nil for a job that is always carried out.
  var cancellation: ReadCancellation? { get }
  /// Does the work, and keeps its result or error until ``finish(_:)``. If another job of the same
  /// commit fails, it runs again in a new transaction, so it must change nothing but the store.
  func run(in transaction: StoreTransaction) throws
  /// Passes the outcome to the caller: `failure`, or else the result of ``run(in:)``.
  func finish(_ failure: (any Error)?)
}

extension StoreJob {
  var locks: WriteLocks { .rows }
  var isOutsideTransactions: Bool { false }
  var cancellation: ReadCancellation? { nil }
}

/// A job whose caller waits in a continuation.
final class ContinuationJob<Value: Sendable>: StoreJob, @unchecked Sendable {
  // Used by one thread at a time: the one that runs and finishes the job.
  let gathersWrites: Bool
  let locks: WriteLocks
  let isOutsideTransactions: Bool
  let cancellation: ReadCancellation?
  private let body: @Sendable (StoreTransaction) throws -> Value
  private let continuation: CheckedContinuation<Value, any Error>
  private let time = StoreTime.current
  private var value: Value?

  init(
    _ continuation: CheckedContinuation<Value, any Error>, locks: WriteLocks = .rows,
    gathersWrites: Bool = false, isOutsideTransactions: Bool = false,
    cancellation: ReadCancellation? = nil,
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) {
    self.continuation = continuation
    self.locks = locks
    self.gathersWrites = gathersWrites
    self.isOutsideTransactions = isOutsideTransactions
    self.cancellation = cancellation
    self.body = body
  }

  func run(in transaction: StoreTransaction) throws {
    guard let time else {
      value = try body(transaction)
      return
    }
    value = try time.count(isElsewhere: transaction.connection.isShared) { try body(transaction) }
  }

  func finish(_ failure: (any Error)?) {
    if let failure {
      continuation.resume(throwing: failure)
    } else if let value {
      continuation.resume(returning: value)
    } else {
      continuation.resume(throwing: StoreError(.closed, "the store was closed"))
    }
  }
}
