import Foundation
import KillPoints
import SQLEngine
import StoreModel

/// The threads that write. Each takes writes that are waiting, makes them one transaction, and commits
/// once for all of them. A store in a file has one such thread, a server on PostgreSQL a few: they have
/// their turns by ``WriteSchedule``, and the transactions of several processes by ``WriteLocks``.
///
/// A job that fails takes nothing of the others with it. Since jobs hardly ever fail, a group is
/// first run without the savepoints that this needs; when a job fails, the transaction is rolled
/// back and the group run again, each job under a savepoint of its own. It is the same with the
/// savepoints of atomic requests, but those fail more often: ``SavepointPolicy`` says when to go
/// without. A transaction that another process got in the way of is begun anew, after growing pauses.
final class StoreWriter: @unchecked Sendable {
  typealias CommitHandler = @Sendable ([OutboxEntry]) -> Void
  typealias DoubtHandler = @Sendable () -> Void

  let queue: JobQueue
  /// What those who prepare records know of the schemas.
  let schemas = SchemaCache()
  let tally = WriterTally()
  private let checkpointer: Checkpointer?
  private let channel: ServerChannel?
  private let groupLimit: Int
  private let lock = NSLock()
  // Guarded by the lock.
  private var handler: CommitHandler?
  private var doubtHandler: DoubtHandler?

  /// How long a thread that lost its connection waits for work, in seconds, before it looks whether the
  /// database server is back.
  private static let lossPatience = 0.25

  /// - Parameters:
  ///   - threads: how many are going to write.
  ///   - checkpointer: what copies the write-ahead log; nil when commits do so.
  ///   - channel: wakes up other servers after commits; nil where there are none.
  ///   - isDistributed: whether each database is on a node of its own.
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

  func setCommitHandler(_ handler: CommitHandler?) {
    lock.withLock { self.handler = handler }
  }

  /// See ``OutboxStore/setDoubtHandler(_:)``.
  func setDoubtHandler(_ handler: DoubtHandler?) {
    lock.withLock { doubtHandler = handler }
  }

  /// What a thread that writes remembers from one transaction to the next.
  private final class WritingThread {
    let number: Int
    let connection: StoreConnection
    var savepointPolicy = SavepointPolicy()
    /// Whether the connection was lost with a transaction that may have been committed, and it is not known
    /// yet to be over.
    var isInDoubt = false

    var engine: any SQLConnection { connection.engine }

    init(_ number: Int, over connection: StoreConnection) {
      self.number = number
      self.connection = connection
    }
  }

  /// A transaction that was committed.
  private struct Commit {
    let transaction: StoreTransaction
    /// Why jobs failed of which nothing was kept, or nil, job by job.
    var failures: [(any Error)?]
  }

  /// Works until the queue is closed and empty.
  ///
  /// - Parameter number: which of the threads this is, counted from 0.
  func work(over connection: StoreConnection, thread number: Int) {
    let thread = WritingThread(number, over: connection)
    while let group = queue.take(
      most: groupLimit, by: number, patience: thread.isInDoubt ? Self.lossPatience : nil)
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

  /// Begins a transaction for nothing else than to find out what became of one that was lost.
  private func decide(on thread: WritingThread) {
    do {
      _ = try begin(on: thread, locking: .rows, withoutSavepoints: false)
      try thread.engine.rollback()
    } catch {
      // It is tried again.
      thread.engine.giveUpTransaction()
    }
  }

  /// Commits what a group writes.
  private func commit(_ group: [any StoreJob], on thread: WritingThread) throws -> Commit {
    var pauses = Self.pauses[...]
    var locks = group[0].locks
    for job in group.dropFirst() { locks.formUnion(job.locks) }
    while true {
      do {
        return try tryCommitting(group, locking: locks, on: thread)
      } catch let needed as LocksNeeded {
        // They only become more, but that a distributed store's transaction has one database.
        if thread.connection.context.isDistributed { locks.leaveDatabases(for: needed.locks) }
        locks.formUnion(needed.locks)
      } catch let error as StoreError where error.code == .serializationFailure {
        guard let pause = pauses.popFirst() else { throw error }
        // Of two that got in each other's way, one is to be done when the other comes again.
        usleep(UInt32.random(in: pause / 2...pause))
      }
    }
  }

  /// Between attempts at a transaction that others get in the way of, in microseconds.
  private static let pauses: [UInt32] = [2_000, 8_000, 32_000, 128_000, 512_000]

  private func tryCommitting(
    _ group: [any StoreJob], locking locks: WriteLocks, on thread: WritingThread
  ) throws -> Commit {
    var failures = [(any Error)?](repeating: nil, count: group.count)
    var hasBegun = false
    do {
      let transaction = try self.transaction(
        on: thread, locking: locks,
        withoutSavepoints: thread.savepointPolicy.nextGoesWithout()
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

  /// Whether a failure is of the transaction, whichever of its jobs came upon it.
  private func concernsAll(_ error: any Error, on thread: WritingThread) -> Bool {
    if error is LocksNeeded { return true }
    return switch (error as? StoreError)?.code {
    case .unreachable?, .serializationFailure?: true
    // A file is this process's: what its commit has left there is overwritten by the next.
    case .outcomeUnknown?: thread.engine.isShared
    default: false
    }
  }

  /// Commits, and tells a failure that may have come after the commit from one that did not.
  private func commit(over engine: any SQLConnection) throws {
    KillPoint.beforeCommit.reach()
    do {
      try engine.commit()
    } catch let error as StoreError where Self.isDoubtful(error.code, over: engine) {
      throw StoreError(
        .outcomeUnknown, "it is not known whether a commit is there: \(error.reason)",
        statement: error.statement)
    }
    KillPoint.afterCommit.reach()
  }

  /// Whether a failure of a commit tells nothing of its outcome: on a server a lost connection, in a file
  /// an error of the disk.
  private static func isDoubtful(_ code: StoreError.Code, over engine: any SQLConnection) -> Bool {
    engine.isShared ? code == .unreachable : code == .diskFailed || code == .statementFailed
  }

  /// Commits what `body` writes, or nothing of it when it throws.
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
      transaction.tail?.apply(transaction.tailChange)
      return transaction
    } catch {
      thread.engine.giveUpTransaction()
      thread.connection.catalog.empty()
      throw error
    }
  }

  private func begin(
    on thread: WritingThread, locking locks: WriteLocks, withoutSavepoints: Bool
  ) throws -> StoreTransaction {
    let connection = thread.connection
    guard !connection.context.isDistributed || locks.databases.count <= 1 else {
      throw StoreError(
        .statementFailed,
        "a write concerns \(locks.databases.count) databases, which may be on several nodes")
    }
    let catalogVersion = try locks.beginWriting(on: connection.engine)
    if thread.isInDoubt {
      // The connection is another, and no transaction of the lost one goes on: it is decided now.
      thread.isInDoubt = false
      lock.withLock { doubtHandler }?()
    }
    let transaction = StoreTransaction(
      writingOver: connection, locks: locks, withoutSavepoints: withoutSavepoints)
    try CounterTable(transaction: transaction).followSchema(foundAs: catalogVersion)
    return transaction
  }

  /// Writes what others have left before a job that may look at it, outside of its savepoint.
  private func prepare(_ transaction: StoreTransaction, for job: any StoreJob) throws {
    if !job.gathersWrites || transaction.gathered.isFull { try transaction.writeGathered() }
  }

  /// Runs one job and returns why it failed, with nothing of it kept. Throws when the engine gave
  /// up the whole transaction, and with it the jobs before.
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
