import Foundation
import KillPoints
import SQLEngine
import StoreModel

/// The writing threads. Each takes waiting writes, runs them in one transaction, and commits once
/// for all of them. A store in a file has one such thread; a server on PostgreSQL has a few.
/// ``WriteSchedule`` coordinates the threads. ``WriteLocks`` coordinates the transactions of
/// several processes.
///
/// A failed job does not affect the others. To undo one job alone, the job needs a savepoint.
/// Failures are rare, so a group of jobs first runs without savepoints. If a job fails, the
/// transaction is rolled back and the group runs again, each job under its own savepoint. An atomic
/// request needs a savepoint inside its job. Atomic requests fail more often, so
/// ``SavepointPolicy`` decides when their savepoints are omitted. A transaction that conflicts with
/// another process is repeated after growing pauses.
///
/// The life of a group of jobs:
///
/// 1. The thread takes the jobs from ``queue``.
/// 2. It begins a transaction with the union of the jobs' locks.
/// 3. It runs each job, then writes what the jobs gathered.
/// 4. It commits, and updates the caches.
/// 5. It calls the commit handler, wakes other servers, and answers the callers.
final class StoreWriter: @unchecked Sendable {
  /// A handler of the changes of a commit. The writing thread calls the handler after the commit,
  /// before the thread answers the callers. The handler must not block.
  typealias CommitHandler = @Sendable ([OutboxEntry]) -> Void
  /// A handler that a writing thread calls when the outcome of a lost transaction is settled: the
  /// transaction can no longer become committed later.
  typealias DoubtHandler = @Sendable () -> Void

  /// The waiting writes; also the reads of a store without readers.
  let queue: JobQueue
  /// The cached schemas for preparing records.
  let schemas = SchemaCache()
  /// The counts for metrics.
  let tally = WriterTally()
  /// The object that copies SQLite's write-ahead log into the database between commits; nil if
  /// commits copy the log.
  private let checkpointer: Checkpointer?
  /// The channel that wakes up other servers; nil if the store is not shared.
  private let channel: ServerChannel?
  /// The most jobs of a commit, at least 1.
  private let groupLimit: Int
  /// The lock that guards the two handlers. All other state belongs to one thread or is immutable.
  private let lock = NSLock()
  // Guarded by the lock.
  private var handler: CommitHandler?
  private var doubtHandler: DoubtHandler?

  /// The time in seconds that a thread which lost its connection waits for work, before it tries to
  /// reach the database server again.
  private static let lossTimeout = 0.25

  /// Creates the writer with an empty queue. It starts no thread.
  ///
  /// - Parameters:
  ///   - configuration: gives the limits of waiting writes and of writes in a commit.
  ///   - threads: the number of writing threads.
  ///   - checkpointer: copies the write-ahead log between commits; nil if commits copy it.
  ///   - channel: wakes up other servers after commits; nil if there are none.
  ///   - isDistributed: whether the store's databases are distributed over nodes.
  init(
    configuration: StoreConfiguration, threads: Int, checkpointer: Checkpointer?,
    channel: ServerChannel?, isDistributed: Bool
  ) {
    self.checkpointer = checkpointer
    self.channel = channel
    queue = JobQueue(
      limit: configuration.waitingWrites, role: "writes", writers: threads,
      separatesDatabases: isDistributed)
    groupLimit = max(1, configuration.writesPerCommit)
  }

  /// Replaces the commit handler, from any thread; nil removes it.
  ///
  /// Changes that are committed without a handler stay in the outbox. See
  /// ``OutboxStore/setCommitHandler(_:)``.
  func setCommitHandler(_ handler: CommitHandler?) {
    lock.withLock { self.handler = handler }
  }

  /// Replaces the doubt handler, from any thread; nil removes it. See
  /// ``OutboxStore/setDoubtHandler(_:)``.
  func setDoubtHandler(_ handler: DoubtHandler?) {
    lock.withLock { doubtHandler = handler }
  }

  /// The state of a writing thread between transactions.
  private final class WritingThread {
    /// The thread's number, counted from 0.
    let number: Int
    let connection: StoreConnection
    var savepointPolicy = SavepointPolicy()
    /// Whether the connection was lost during a transaction that may have been committed or may
    /// still be running.
    var isInDoubt = false

    var engine: any SQLConnection { connection.engine }

    init(_ number: Int, over connection: StoreConnection) {
      self.number = number
      self.connection = connection
    }
  }

  /// A committed transaction.
  private struct Commit {
    let transaction: StoreTransaction
    /// The error of each job, in the order of the group; nil for a job that was committed.
    var failures: [(any Error)?]
  }

  /// Runs jobs until the queue is closed and empty.
  ///
  /// While the outcome of a lost transaction is unknown, the thread waits for jobs only for
  /// ``lossTimeout``. Then it begins an empty transaction to settle the outcome.
  ///
  /// - Parameters:
  ///   - connection: the thread's own connection.
  ///   - number: the thread's number, counted from 0.
  func work(over connection: StoreConnection, thread number: Int) {
    let thread = WritingThread(number, over: connection)
    while let group = queue.take(
      most: groupLimit, by: number, patience: thread.isInDoubt ? Self.lossTimeout : nil)
    {
      if group.isEmpty {
        decide(on: thread)
      } else if let checkpointer {
        checkpointer.writing {
          perform(group, on: thread)
          return thread.engine.loggedPages
        }
      } else {
        perform(group, on: thread)
      }
    }
  }

  /// Carries out a group of jobs: first those outside of transactions, then the others in one
  /// commit. It answers each caller.
  private func perform(_ jobs: [any StoreJob], on thread: WritingThread) {
    for job in jobs where job.isOutsideTransactions {
      do {
        try job.run(in: StoreTransaction(over: thread.connection))
        job.finish(nil)
      } catch {
        job.finish(error)
      }
    }
    let group = jobs.filter { !$0.isOutsideTransactions }
    if group.isEmpty { return }
    tally.begin(thread.number)
    let commit: Commit
    do {
      commit = try self.commit(group, on: thread)
    } catch {
      tally.end(
        thread.number, writes: group.count, loggedPages: thread.engine.loggedPages, error)
      if concernsAll(error, on: thread), !(error is LocksNeeded),
        (error as? StoreError)?.code != .serializationFailure
      {
        thread.isInDoubt = true
      }
      for job in group { job.finish(error) }
      return
    }
    tally.end(thread.number, writes: group.count, loggedPages: thread.engine.loggedPages, nil)
    let transaction = commit.transaction
    if !transaction.outbox.isEmpty, let handler = lock.withLock({ handler }) {
      handler(transaction.outbox)
    }
    if !transaction.serversToWake.isEmpty { channel?.wakeUp(transaction.serversToWake) }
    for (job, failure) in zip(group, commit.failures) { job.finish(failure) }
  }

  /// Settles the outcome of a lost transaction: begins a new transaction, and rolls the new one
  /// back. A failure is ignored, because the next call tries again.
  private func decide(on thread: WritingThread) {
    do {
      _ = try begin(on: thread, locking: .rows, withoutSavepoints: false)
      try thread.engine.rollback()
    } catch {
      // The next call tries again.
      thread.engine.giveUpTransaction()
    }
  }

  /// Commits a group's writes. It repeats the transaction with further locks whenever a job needs
  /// them, and up to five times after conflicts with other processes.
  ///
  /// - Throws: an error that concerns the whole group, such as ``StoreError/Code/unreachable``.
  private func commit(_ group: [any StoreJob], on thread: WritingThread) throws -> Commit {
    var pauses = Self.pauses[...]
    var locks = group[0].locks
    for job in group.dropFirst() { locks.formUnion(job.locks) }
    while true {
      do {
        return try tryCommitting(group, locking: locks, on: thread)
      } catch let needed as LocksNeeded {
        // Locks are only added, with one exception: a transaction of a distributed store locks one
        // database, so the needed database replaces the present one.
        if thread.connection.context.isDistributed { locks.leaveDatabases(for: needed.locks) }
        locks.formUnion(needed.locks)
      } catch let error as StoreError where error.code == .serializationFailure {
        guard let pause = pauses.popFirst() else { throw error }
        // A random pause, so that two conflicting transactions do not collide again.
        usleep(UInt32.random(in: pause / 2...pause))
      }
    }
  }

  /// The longest pauses before the repetitions of a conflicting transaction, in microseconds.
  private static let pauses: [UInt32] = [2_000, 8_000, 32_000, 128_000, 512_000]

  /// Tries to commit a group's writes. If one of several jobs fails, or if an atomic request needs
  /// its savepoint, it tries once more with savepoints.
  private func tryCommitting(
    _ group: [any StoreJob], locking locks: WriteLocks, on thread: WritingThread
  ) throws -> Commit {
    var failures = [(any Error)?](repeating: nil, count: group.count)
    var hasBegun = false
    do {
      let transaction = try self.transaction(
        on: thread, locking: locks,
        withoutSavepoints: thread.savepointPolicy.nextOmitsSavepoints()
      ) { transaction in
        hasBegun = true
        for job in group {
          try prepare(transaction, for: job)
          try job.run(in: transaction)
        }
      }
      return Commit(transaction: transaction, failures: failures)
    } catch {
      if error is SavepointNeeded {
        thread.savepointPolicy.wereNeeded()
      } else if group.count == 1 || !hasBegun || concernsAll(error, on: thread) {
        throw error
      }
    }
    let transaction = try self.transaction(
      on: thread, locking: locks, withoutSavepoints: false
    ) { transaction in
      for (index, job) in group.enumerated() {
        try prepare(transaction, for: job)
        failures[index] = try attempt(job, in: transaction, on: thread)
      }
    }
    return Commit(transaction: transaction, failures: failures)
  }

  /// Returns whether an error concerns the whole transaction, whichever job threw it. The group is
  /// then not run again under savepoints.
  private func concernsAll(_ error: any Error, on thread: WritingThread) -> Bool {
    if error is LocksNeeded { return true }
    return switch (error as? StoreError)?.code {
    case .unreachable?, .serializationFailure?: true
    // Only this process writes to a file, and its next commit overwrites what a failed commit left
    // in the log.
    case .outcomeUnknown?: thread.engine.isShared
    default: false
    }
  }

  /// Commits the transaction on the engine.
  ///
  /// - Throws: ``StoreError/Code/outcomeUnknown`` if the commit may have succeeded in spite of the
  ///   error.
  private func commit(over engine: any SQLConnection) throws {
    KillPoint.beforeCommit.reach()
    do {
      try engine.commit()
    } catch let error as StoreError where Self.isDoubtful(error.code, over: engine) {
      throw StoreError(
        .outcomeUnknown, "it is not known whether the changes were committed: \(error.reason)",
        statement: error.statement)
    }
    KillPoint.afterCommit.reach()
  }

  /// Returns whether the outcome of a failed commit is unknown. On a server it is unknown after a
  /// lost connection. In a file it is unknown after an error of the disk or of the `COMMIT`
  /// statement.
  private static func isDoubtful(_ code: StoreError.Code, over engine: any SQLConnection) -> Bool {
    engine.isShared ? code == .unreachable : code == .diskFailed || code == .statementFailed
  }

  /// Runs `body` in a transaction and commits its writes, or rolls the transaction back if
  /// something throws.
  ///
  /// Before the commit it writes the rows that `body` has left in the transaction object: gathered
  /// writes, sums of stored bytes, entries of the notification index that are due, and dispatch
  /// leases.
  private func transaction(
    on thread: WritingThread, locking locks: WriteLocks, withoutSavepoints: Bool,
    _ body: (StoreTransaction) throws -> Void
  ) throws -> StoreTransaction {
    do {
      let transaction = try begin(
        on: thread, locking: locks, withoutSavepoints: withoutSavepoints)
      try body(transaction)
      try transaction.writeGathered()
      try DatabaseTable(transaction: transaction).writeStoredBytes()
      try NotificationIndexTable(transaction: transaction).fileWaiting()
      try DispatchLeaseTable(transaction: transaction).pointToChanges()
      try commit(over: thread.engine)
      schemas.add(transaction.usedTypes)
      thread.connection.caches.committed(transaction)
      return transaction
    } catch {
      thread.engine.giveUpTransaction()
      thread.connection.caches.rolledBack()
      throw error
    }
  }

  /// Begins a writing transaction with its locks. If ``WritingThread/isInDoubt`` is set, the method
  /// then clears it and calls the doubt handler.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` if the locks name several databases of a
  ///   distributed store.
  private func begin(
    on thread: WritingThread, locking locks: WriteLocks, withoutSavepoints: Bool
  ) throws -> StoreTransaction {
    let connection = thread.connection
    guard !connection.context.isDistributed || locks.databases.count <= 1 else {
      throw StoreError(
        .statementFailed,
        "a write changes \(locks.databases.count) databases, which may be on several nodes")
    }
    let catalogVersion = try locks.beginWriting(on: connection.engine)
    if thread.isInDoubt {
      // The session of the lost connection has ended before the new connection began a transaction.
      // So the outcome of the lost transaction is settled now.
      thread.isInDoubt = false
      lock.withLock { doubtHandler }?()
    }
    let transaction = StoreTransaction(
      writingOver: connection, locks: locks, withoutSavepoints: withoutSavepoints)
    try CounterTable(transaction: transaction).followSchema(foundAs: catalogVersion)
    return transaction
  }

  /// Writes what earlier jobs gathered, if the next job may read these rows or if the limit is
  /// reached. Call the method before the job's savepoint is set.
  private func prepare(_ transaction: StoreTransaction, for job: any StoreJob) throws {
    if !job.gathersWrites || transaction.gathered.isFull { try transaction.writeGathered() }
  }

  /// Runs one job under a savepoint, and rolls back to the savepoint if the job fails.
  ///
  /// - Returns: the error of the failed job; nil if it succeeded.
  /// - Throws: the job's error if the engine has rolled back the whole transaction, and with it the
  ///   earlier jobs; also an error that concerns all jobs.
  private func attempt(
    _ job: any StoreJob, in transaction: StoreTransaction, on thread: WritingThread
  ) throws -> (any Error)? {
    let engine = thread.engine
    let mark = transaction.mark
    try engine.run("SAVEPOINT job", [])
    do {
      try job.run(in: transaction)
      try engine.run("RELEASE job", [])
      return nil
    } catch {
      guard engine.isInTransaction, !concernsAll(error, on: thread) else { throw error }
      try engine.run("ROLLBACK TO job", [])
      try engine.run("RELEASE job", [])
      transaction.restore(mark)
      return error
    }
  }
}
