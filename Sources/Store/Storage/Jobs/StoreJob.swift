import SQLEngine
import StoreModel

/// The kind of a job decides when its turn comes (``WriteSchedule``).
enum JobKind: Hashable, Sendable {
  /// A few rows, such as a save of one record, or a read.
  case short
  /// Many notifications of the dispatcher.
  case dispatch
  /// Many rows, such as a request with hundreds of records or a step of maintenance.
  case bulk
}

/// A job for one of the store's threads: a write, a read, or a statement outside of transactions.
///
/// The life of a job: ``JobQueue/add(_:)``; ``run(in:)`` on a thread, perhaps several times, or
/// never for a cancelled read; ``finish(_:)`` once.
protocol StoreJob: AnyObject, Sendable {
  /// About how many rows of callers the job writes, such as records or notifications.
  var rows: Int { get }
  var isDispatch: Bool { get }
  /// The job reads by itself what is missing.
  var needs: [ReadNeeds] { get }
  /// The locks while the job runs, on a store that several servers share. The default takes no
  /// locks besides those of the statements.
  var locks: WriteLocks { get }
  var isOutsideTransactions: Bool { get }
  var cancellation: ReadCancellation? { get }
  /// Does the work, and keeps the result until ``finish(_:)``. If a job of the same transaction
  /// fails, the thread runs all of its jobs again in a new transaction. This method must therefore
  /// change nothing outside of the store.
  func run(in transaction: StoreTransaction) throws
  /// The thread that ran the job calls this method after the commit or the rollback. A job that
  /// never ran may be finished on the thread that added it.
  func finish(_ failure: (any Error)?)
}

extension StoreJob {
  var rows: Int { 1 }
  var isDispatch: Bool { false }
  var needs: [ReadNeeds] { [] }
  /// Whether the job decides by what it needs alone, as long as it runs no statement.
  var decides: Bool { !needs.isEmpty }
  var kind: JobKind { rows <= 32 ? .short : isDispatch ? .dispatch : .bulk }
  var locks: WriteLocks { .rows }
  var isOutsideTransactions: Bool { false }
  var cancellation: ReadCancellation? { nil }
}

/// A job whose caller waits in a continuation.
///
/// The caller's task is suspended, so no thread waits. The job adds its time to
/// ``StoreTime/current`` of the task that creates it.
final class ContinuationJob<Value: Sendable>: StoreJob, @unchecked Sendable {
  // One thread at a time uses the object: the thread that runs and finishes the job.
  let rows: Int
  let isDispatch: Bool
  let needs: [ReadNeeds]
  let locks: WriteLocks
  let isOutsideTransactions: Bool
  let cancellation: ReadCancellation?
  private let body: @Sendable (StoreTransaction) throws -> Value
  private let continuation: CheckedContinuation<Value, any Error>
  private let time = StoreTime.current
  private var value: Value?

  /// - Parameter body: may run several times, so it must change nothing outside of the store.
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
