import SQLEngine
import StoreModel

/// The kind of a job, which decides when its turn comes (``WriteSchedule``).
enum JobKind: Hashable, Sendable {
  /// A job of a few rows, such as a save of one record, or a read.
  case short
  /// A write of many notifications by the dispatcher.
  case dispatch
  /// A write of many rows, such as a request with hundreds of records or a step of maintenance.
  case bulk
}

/// A job for one of the store's threads: a write, a read, or a statement outside of transactions.
///
/// The life of a job:
///
/// 1. ``JobQueue/add(_:)`` adds the job to the queue, or finishes the job with an error.
/// 2. A thread calls ``run(in:)``, perhaps several times. A read that was cancelled before is not
///    run.
/// 3. The thread calls ``finish(_:)`` once.
protocol StoreJob: AnyObject, Sendable {
  /// About how many rows of callers the job writes, such as records or notifications. The default
  /// is 1.
  var rows: Int { get }
  /// Whether the job is the dispatcher's. The default is false.
  var isDispatch: Bool { get }
  /// The data that the job needs. It reads by itself what is missing.
  var needs: [ReadNeeds] { get }
  /// The locks that the job needs while it runs, on a store that several servers share. The default
  /// is ``WriteLocks/rows``: no locks besides those of the statements.
  var locks: WriteLocks { get }
  /// Whether the thread runs the job outside of a transaction of the engine. The default is false.
  var isOutsideTransactions: Bool { get }
  /// The object by which a read can be cancelled; nil for a job that is never cancelled. The
  /// default is nil.
  var cancellation: ReadCancellation? { get }
  /// Does the work, and keeps the result until ``finish(_:)``.
  ///
  /// If a job of the same transaction fails, the thread runs all of its jobs again in a new
  /// transaction. So this method must change nothing outside of the store.
  ///
  /// - Throws: any error. Unless a repetition succeeds, the thread passes the error to
  ///   ``finish(_:)``.
  func run(in transaction: StoreTransaction) throws
  /// Passes `failure` to the caller; if it is nil, the result of ``run(in:)``.
  ///
  /// The thread that ran the job calls this method once, after the commit or the rollback. A job
  /// that never ran may be finished on the thread that added the job.
  func finish(_ failure: (any Error)?)
}

extension StoreJob {
  var rows: Int { 1 }
  var isDispatch: Bool { false }
  var needs: [ReadNeeds] { [] }
  /// Whether the job decides by what it needs alone, as long as it runs no statement.
  var decides: Bool { !needs.isEmpty && !isDispatch }
  /// The kind of the job: short, if it writes at most 32 rows.
  var kind: JobKind { rows <= 32 ? .short : isDispatch ? .dispatch : .bulk }
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
  // One thread at a time uses the object: the thread that runs and finishes the job.
  let rows: Int
  let isDispatch: Bool
  let needs: [ReadNeeds]
  let locks: WriteLocks
  let isOutsideTransactions: Bool
  let cancellation: ReadCancellation?
  /// The work.
  private let body: @Sendable (StoreTransaction) throws -> Value
  private let continuation: CheckedContinuation<Value, any Error>
  /// The sum to which the job adds its time: that of the task that creates the job. Nil if the time
  /// is not counted.
  private let time = StoreTime.current
  /// The result of the last run; nil before the first one.
  private var value: Value?

  /// Creates a job for the current task.
  ///
  /// - Parameters:
  ///   - continuation: ``finish(_:)`` resumes it, with the result of `body` or an error.
  ///   - body: the work. The closure may run several times, so it must change nothing outside of
  ///     the store.
  init(
    _ continuation: CheckedContinuation<Value, any Error>, locks: WriteLocks = .rows,
    rows: Int = 1, isDispatch: Bool = false, needs: [ReadNeeds] = [],
    isOutsideTransactions: Bool = false,
    cancellation: ReadCancellation? = nil,
    _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) {
    self.continuation = continuation
    self.locks = locks
    self.rows = rows
    self.isDispatch = isDispatch
    self.needs = needs
    self.isOutsideTransactions = isOutsideTransactions
    self.cancellation = cancellation
    self.body = body
  }

  /// Runs the body. The new result replaces that of an earlier run.
  func run(in transaction: StoreTransaction) throws {
    guard let time else {
      value = try body(transaction)
      return
    }
    value = try time.count(isElsewhere: transaction.connection.isShared) { try body(transaction) }
  }

  /// Resumes the caller. Without `failure`, a job that was never run fails with
  /// ``StoreError/Code/closed``.
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
