import SQLEngine
import StoreModel

/// A job for one of the store's threads: a write, a read, or a statement of its own.
///
/// The life of a job: ``JobQueue/add(_:)`` queues it or finishes it with an error. A thread calls
/// ``run(in:)``, perhaps several times, and then ``finish(_:)`` once.
protocol StoreJob: AnyObject, Sendable {
  /// Whether the job leaves writes in ``StoreTransaction/gathered``, and reads no rows that earlier
  /// gathered writes concern: the value index and the versions of zones.
  ///
  /// The writer writes what was gathered before any other job.
  var gathersWrites: Bool { get }
  /// The locks that the job holds while it runs, on a shared store. The default is
  /// ``WriteLocks/rows``: none.
  var locks: WriteLocks { get }
  /// Whether the writer runs the job by itself, in no transaction. The default is false.
  var isOutsideTransactions: Bool { get }
  /// The cancellation of a read; nil for a job that is always carried out. The default is nil.
  var cancellation: ReadCancellation? { get }
  /// Does the work, and keeps its result or error until ``finish(_:)``.
  ///
  /// If another job of the same commit fails, it runs again in a new transaction, so it must change
  /// nothing but the store.
  ///
  /// - Throws: any error; it is passed to ``finish(_:)`` unless a repetition succeeds.
  func run(in transaction: StoreTransaction) throws
  /// Passes the outcome to the caller: `failure`, or else the result of ``run(in:)``.
  ///
  /// The thread calls the method once, after the commit, on the thread that ran the job. A job that
  /// never ran may be finished on the thread that added it.
  func finish(_ failure: (any Error)?)
}

extension StoreJob {
  var locks: WriteLocks { .rows }
  var isOutsideTransactions: Bool { false }
  var cancellation: ReadCancellation? { nil }
}

/// A job whose caller waits in a continuation.
///
/// The caller's task is suspended until ``finish(_:)`` resumes it. No thread waits.
///
/// If ``StoreTime/current`` is set in the caller's task, the job adds its time there.
final class ContinuationJob<Value: Sendable>: StoreJob, @unchecked Sendable {
  // Used by one thread at a time: the one that runs and finishes the job.
  let gathersWrites: Bool
  let locks: WriteLocks
  let isOutsideTransactions: Bool
  let cancellation: ReadCancellation?
  /// The work.
  private let body: @Sendable (StoreTransaction) throws -> Value
  private let continuation: CheckedContinuation<Value, any Error>
  /// The sum of the task that added the job, to which the job adds its time; nil if its time is not
  /// counted.
  private let time = StoreTime.current
  /// The result of the last run; nil before the first one.
  private var value: Value?

  /// Creates a job for the current task.
  ///
  /// - Parameters:
  ///   - continuation: resumed once, with the result of `body` or an error.
  ///   - body: the work. The closure may run several times.
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

  /// Runs the body, and replaces the result of an earlier run.
  func run(in transaction: StoreTransaction) throws {
    guard let time else {
      value = try body(transaction)
      return
    }
    value = try time.count(isElsewhere: transaction.connection.isShared) { try body(transaction) }
  }

  /// Resumes the caller. A job that was never run fails with ``StoreError/Code/closed``.
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
