import Foundation
import KillPoints
import SQLEngine
import StoreModel

/// The writing threads. Each takes waiting writes, runs them in one transaction, and commits once
/// for all. A store in a file has one such thread; a server on PostgreSQL has a few.
/// ``WriteSchedule`` coordinates threads, ``WriteLocks`` the transactions of several processes.
///
/// A failed job does not affect the others: its decisions are dropped (``WriteSet``). If its
/// statements have written, the transaction is rolled back, and the job runs again in a transaction
/// of its own, as do those before and after it. A transaction that conflicts with another process is repeated after
/// growing pauses.
///
/// The life of a group of jobs:
///
/// 1. The thread takes the jobs from ``queue``.
/// 2. It begins a transaction with the union of the jobs' locks, and reads what the jobs need.
/// 3. It runs each job, then writes what the jobs decided.
/// 4. It commits, and updates the caches.
/// 5. It calls the commit handler, wakes other servers, and answers the callers.
final class StoreWriter: @unchecked Sendable {
  /// A handler of the changes of a commit, called on the writing thread after the commit, before
  /// the callers are answered. It must not block.
  typealias CommitHandler = @Sendable ([OutboxEntry]) -> Void
  /// A handler that a writing thread calls when a lost transaction can no longer become committed.
  typealias DoubtHandler = @Sendable () -> Void

  let queue: JobQueue
  let schemas = SchemaCache()
  let tally = WriterTally()
  private let checkpointer: Checkpointer?
  private let channel: ServerChannel?
  private let groupLimit: Int
  private let onUnknownTable: @Sendable (_ table: String, any Error) -> Void
  /// Guards the two handlers. All other state belongs to one thread or is immutable.
  private let lock = NSLock()
  // Guarded by the lock.
  private var handler: CommitHandler?
  private var doubtHandler: DoubtHandler?

  /// The seconds for which a thread that lost its connection waits for work, before it tries to
  /// reach the database server again.
  private static let lossTimeout = 0.25

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
    onUnknownTable = configuration.onUnknownTable
  }

  /// Any thread may call it. Changes that are committed without a handler stay in the outbox
  /// (``OutboxStore/setCommitHandler(_:)``).
  func setCommitHandler(_ handler: CommitHandler?) {
    lock.withLock { self.handler = handler }
  }

  /// Any thread may call it; see ``OutboxStore/setDoubtHandler(_:)``.
  func setDoubtHandler(_ handler: DoubtHandler?) {
    lock.withLock { doubtHandler = handler }
  }

  /// A writing thread between transactions.
  private final class WritingThread {
    let number: Int
    let connection: StoreConnection
    /// The next groups that lock their databases before they read, because another process has
    /// changed what a group read without locks.
    var groupsToLockFirst = 0
    /// The connection was lost during a transaction that may have been committed or may still be
    /// running.
    var isInDoubt = false
    var groups = 0

    var engine: any SQLConnection { connection.engine }

    init(_ number: Int, over connection: StoreConnection) {
      self.number = number
      self.connection = connection
    }
  }

  /// A committed transaction.
  private struct Commit {
    let transaction: StoreTransaction
    /// The errors in the order of the group; nil for a job that was committed.
    var failures: [(any Error)?]
  }

  /// Ends when the queue is closed and empty.
  ///
  /// While the outcome of a lost transaction is unknown, the thread waits for jobs only for
  /// ``lossTimeout``. Then it begins an empty transaction to settle the outcome.
  func work(over connection: StoreConnection, thread number: Int) {
    let thread = WritingThread(number, over: connection)
    while let group = queue.take(
      most: groupLimit, by: number, patience: thread.isInDoubt ? Self.lossTimeout : nil)
    {
      analyzeGrownTables(on: thread)
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

  /// The groups of the first thread after which it collects the statistics of tables that have none.
  private static let analyses: Set<Int> = [16, 128, 1_024]

  /// In a new store, PostgreSQL plans without statistics until it analyzes tables by itself, a minute
  /// later. Some plans then read all records of a zone for one.
  private func analyzeGrownTables(on thread: WritingThread) {
    thread.groups += 1
    guard thread.number == 0, Self.analyses.contains(thread.groups), !thread.engine.isLost else {
      return
    }
    thread.engine.analyzeUnknownTables(besides: [], onUnknownTable)
  }

  private func perform(_ jobs: [any StoreJob], on thread: WritingThread) {
    for job in jobs where job.isOutsideTransactions {
      do {
        try thread.engine.getReady()
        try job.run(in: StoreTransaction(over: thread.connection))
        job.finish(nil)
      } catch {
        job.finish(error)
      }
    }
    let group = jobs.filter { !$0.isOutsideTransactions }
    if !group.isEmpty { performTogether(group, on: thread) }
  }

  /// If what a job did cannot be dropped alone, performs the job by itself, and those before and after
  /// it together. Halves the group if the job is unknown, so that one of many costs few commits.
  private func performTogether(_ group: [any StoreJob], on thread: WritingThread) {
    tally.begin(thread.number)
    let commit: Commit
    do {
      commit = try self.commit(group, on: thread)
    } catch {
      tally.end(
        thread.number, writes: group.count, loggedPages: thread.engine.loggedPages, error)
      if let needed = error as? SavepointNeeded {
        let first = needed.job ?? group.count / 2
        let second = needed.job.map { $0 + 1 } ?? first
        for part in [group[..<first], group[first..<second], group[second...]] where !part.isEmpty {
          performTogether(Array(part), on: thread)
        }
        return
      }
      if concernsAll(error, on: thread), !(error is LocksNeeded),
        (error as? StoreError)?.code != .serializationFailure
      {
        thread.isInDoubt = true
        // The callers look for their changes as soon as they know. What they find then must stay.
        if (error as? StoreError)?.code == .outcomeUnknown { decide(on: thread) }
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

  /// Ignores a failure, because the next call tries again.
  private func decide(on thread: WritingThread) {
    do {
      _ = try begin(
        on: thread, locking: .rows, .first, reading: [], withSavepoints: false)
      try thread.engine.rollback()
    } catch {
      // The next call tries again.
      thread.engine.giveUpTransaction()
    }
  }

  /// Repeats the transaction with further locks when a job needs them, and up to five times after
  /// conflicts.
  private func commit(_ group: [any StoreJob], on thread: WritingThread) throws -> Commit {
    var pauses = Self.pauses[...]
    var locks = group[0].locks
    for job in group.dropFirst() { locks.formUnion(job.locks) }
    let canLockLast =
      thread.groupsToLockFirst == 0 && locks.reach == .rows && locks.badgeOwners.isEmpty
      && !thread.connection.context.isDistributed && group.allSatisfy(\.decides)
    var time = canLockLast ? LockTime.last : .first
    thread.groupsToLockFirst = max(0, thread.groupsToLockFirst - 1)
    while true {
      do {
        return try tryCommitting(group, locking: locks, time, on: thread)
      } catch let needed as LocksNeeded {
        // Locks are only added, with one exception: a transaction of a distributed store locks one
        // database, so the needed database replaces the present one.
        if thread.connection.context.isDistributed { locks.leaveDatabases(for: needed.locks) }
        locks.formUnion(needed.locks)
        time = .first
      } catch let error as StoreError where error.code == .serializationFailure {
        if time == .last {
          time = .first
          thread.groupsToLockFirst = Self.caution
          continue
        }
        if thread.engine.isLost { time = .firstAgain }
        guard let pause = pauses.popFirst() else { throw error }
        // A random pause, so that two conflicting transactions do not collide again.
        usleep(UInt32.random(in: pause / 2...pause))
      }
    }
  }

  /// The groups of a thread that lock first, after one had to be repeated.
  private static let caution = 64
  /// In microseconds, before the repetitions of a conflicting transaction.
  private static let pauses: [UInt32] = [2_000, 8_000, 32_000, 128_000, 512_000]

  /// If a part of what the only job did must be dropped, tries once more with savepoints.
  private func tryCommitting(
    _ group: [any StoreJob], locking locks: WriteLocks, _ time: LockTime, on thread: WritingThread
  ) throws -> Commit {
    do {
      return try tryCommitting(group, locking: locks, time, on: thread, withSavepoints: false)
    } catch is SavepointNeeded where group.count == 1 {
      return try tryCommitting(
        group, locking: locks, time == .last ? .first : time, on: thread, withSavepoints: true)
    }
  }

  private func tryCommitting(
    _ group: [any StoreJob], locking locks: WriteLocks, _ time: LockTime, on thread: WritingThread,
    withSavepoints: Bool
  ) throws -> Commit {
    var failures = [(any Error)?](repeating: nil, count: group.count)
    var hasRun = false
    do {
      let transaction = try self.transaction(
        on: thread, locking: locks, time, reading: group.flatMap(\.needs),
        withSavepoints: withSavepoints
      ) { transaction in
        for (index, job) in group.enumerated() {
          if transaction.writes.isFull { try transaction.write() }
          do {
            failures[index] = try attempt(
              job, in: transaction, on: thread, isAlone: group.count == 1)
          } catch is SavepointNeeded {
            throw SavepointNeeded(job: index)
          }
        }
        hasRun = true
      }
      return Commit(transaction: transaction, failures: failures)
    } catch {
      // A statement that was decided by one of the jobs failed, or the commit did.
      guard hasRun, group.count > 1, !concernsAll(error, on: thread) else {
        throw error
      }
      throw SavepointNeeded()
    }
  }

  /// The jobs are not run again after an error of the whole transaction, whichever job threw it.
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

  /// - Throws: ``StoreError/Code/outcomeUnknown`` if the commit may have succeeded in spite of the
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

  /// The outcome of a failed commit is unknown after a lost connection to a server, and in a file
  /// after an error of the disk or of `COMMIT`.
  private static func isDoubtful(_ code: StoreError.Code, over engine: any SQLConnection) -> Bool {
    engine.isShared ? code == .unreachable : code == .diskFailed || code == .statementFailed
  }

  /// Rolls back if something throws. Before the commit, the method writes what `body` has left in
  /// the transaction: decided rows, due entries of the notification index, and dispatch leases.
  private func transaction(
    on thread: WritingThread, locking locks: WriteLocks, _ time: LockTime,
    reading needs: [ReadNeeds], withSavepoints: Bool, _ body: (StoreTransaction) throws -> Void
  ) throws -> StoreTransaction {
    do {
      let transaction = try begin(
        on: thread, locking: locks, time, reading: needs, withSavepoints: withSavepoints)
      try body(transaction)
      try NotificationIndexTable(transaction: transaction).fileWaiting()
      try DispatchLeaseTable(transaction: transaction).pointToChanges()
      try transaction.write()
      try commit(over: thread.engine)
      schemas.add(transaction.usedTypes)
      thread.connection.caches.committed(transaction)
      return transaction
    } catch {
      thread.engine.giveUpTransaction()
      throw error
    }
  }

  /// Clears ``WritingThread/isInDoubt``, if set, and calls the doubt handler.
  ///
  /// - Throws: ``StoreError/Code/statementFailed`` if the locks name several databases of a
  ///   distributed store.
  private func begin(
    on thread: WritingThread, locking locks: WriteLocks, _ time: LockTime,
    reading needs: [ReadNeeds], withSavepoints: Bool
  ) throws -> StoreTransaction {
    let connection = thread.connection
    guard !connection.context.isDistributed || locks.databases.count <= 1 else {
      throw StoreError(
        .statementFailed,
        "a write changes \(locks.databases.count) databases, which may be on several nodes")
    }
    let transaction = StoreTransaction(
      writingOver: connection, locks: locks, withSavepoints: withSavepoints)
    try transaction.begin(reading: needs, locking: time)
    if thread.isInDoubt {
      // The session of the lost connection has ended before the new connection began a transaction.
      // So the outcome of the lost transaction is settled now.
      thread.isInDoubt = false
      lock.withLock { doubtHandler }?()
    }
    return transaction
  }

  /// Drops what a failed job did, and returns its error.
  ///
  /// - Parameter isAlone: the failure of the group's only job ends the transaction.
  /// - Throws: ``SavepointNeeded`` if a failed job has written. The job's error if it concerns all
  ///   jobs.
  private func attempt(
    _ job: any StoreJob, in transaction: StoreTransaction, on thread: WritingThread, isAlone: Bool
  ) throws -> (any Error)? {
    if isAlone {
      try job.run(in: transaction)
      return nil
    }
    let mark = try transaction.mark("job")
    do {
      try job.run(in: transaction)
      return nil
    } catch {
      if error is SavepointNeeded || concernsAll(error, on: thread) { throw error }
      try transaction.restore(mark)
      return error
    }
  }
}
