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
  let board = SchemaBoard()
  let tally = WriterTally()
  private let checkpointer: Checkpointer?
  private let notices: ServerNotices?
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
  ///   - notices: what gives other servers notice of commits; nil where there are none.
  ///   - isDistributed: whether each database is on a node of its own.
  init(
    configuration: StoreConfiguration, threads: Int, checkpointer: Checkpointer?,
    notices: ServerNotices?, isDistributed: Bool
  ) {
    self.checkpointer = checkpointer
    self.notices = notices
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

  /// Works until the queue is closed and empty.
  ///
  /// - Parameter thread: which of the threads this is, counted from 0.
  func work(in transaction: StoreTransaction, thread: Int) {
    while let group = queue.take(
      most: groupLimit, by: thread, patience: transaction.isInDoubt ? Self.lossPatience : nil)
    {
      if group.isEmpty {
        decide(in: transaction)
      } else if let checkpointer {
        checkpointer.writing {
          perform(group, in: transaction, thread: thread)
          return transaction.connection.loggedPages
        }
      } else {
        perform(group, in: transaction, thread: thread)
      }
    }
  }

  private func perform(_ jobs: [any StoreJob], in transaction: StoreTransaction, thread: Int) {
    for job in jobs where job.isOutsideTransactions {
      do {
        try job.run(in: transaction)
        job.finish(nil)
      } catch {
        job.finish(error)
      }
    }
    let group = jobs.filter { !$0.isOutsideTransactions }
    if group.isEmpty { return }
    tally.begin(thread)
    let failures: [(any Error)?]
    do {
      failures = try commit(group, in: transaction)
    } catch {
      tally.end(
        thread, writes: group.count, loggedPages: transaction.connection.loggedPages, error)
      if Self.concernsAll(error, in: transaction), !(error is LocksNeeded),
        (error as? StoreError)?.code != .serializationFailure
      {
        transaction.isInDoubt = true
      }
      for job in group { job.finish(error) }
      return
    }
    tally.end(thread, writes: group.count, loggedPages: transaction.connection.loggedPages, nil)
    if !transaction.outbox.isEmpty, let handler = lock.withLock({ handler }) {
      handler(transaction.outbox)
    }
    if !transaction.wordLeft.isEmpty { notices?.tellOfWord(transaction.wordLeft) }
    for (job, failure) in zip(group, failures) { job.finish(failure) }
  }

  /// Begins a transaction for nothing else than to find out what became of one that was lost.
  private func decide(in transaction: StoreTransaction) {
    do {
      try begin(in: transaction, locking: .rows)
      try transaction.connection.rollback()
    } catch {
      // It is tried again.
      if transaction.connection.isInTransaction { try? transaction.connection.rollback() }
    }
  }

  /// Commits what a group writes, and answers why jobs failed of which nothing was kept.
  private func commit(
    _ group: [any StoreJob], in transaction: StoreTransaction
  ) throws -> [(any Error)?] {
    var pauses = Self.pauses[...]
    var locks = group[0].locks
    for job in group.dropFirst() { locks.formUnion(job.locks) }
    while true {
      do {
        return try tryCommitting(group, locking: locks, in: transaction)
      } catch let needed as LocksNeeded {
        // They only become more, but that a distributed store's transaction has one database.
        if transaction.isDistributed { locks.leaveDatabases(for: needed.locks) }
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
    _ group: [any StoreJob], locking locks: WriteLocks, in transaction: StoreTransaction
  ) throws -> [(any Error)?] {
    var failures = [(any Error)?](repeating: nil, count: group.count)
    do {
      transaction.goesWithoutSavepoints = transaction.savepointPolicy.nextGoesWithout()
      try self.transaction(in: transaction, locking: locks) {
        for job in group {
          try prepare(transaction, for: job)
          try job.run(in: transaction)
        }
      }
    } catch {
      transaction.goesWithoutSavepoints = false
      if error is SavepointNeeded {
        transaction.savepointPolicy.wereNeeded()
      } else if group.count == 1 || !transaction.hasBegun
        || Self.concernsAll(error, in: transaction)
      {
        throw error
      }
      try self.transaction(in: transaction, locking: locks) {
        for (index, job) in group.enumerated() {
          try prepare(transaction, for: job)
          failures[index] = try attempt(job, in: transaction)
        }
      }
    }
    return failures
  }

  /// Whether a failure is of the transaction, whichever of its jobs came upon it.
  private static func concernsAll(_ error: any Error, in transaction: StoreTransaction) -> Bool {
    if error is LocksNeeded { return true }
    return switch (error as? StoreError)?.code {
    case .unreachable?, .serializationFailure?: true
    // A file is this process's: what its commit has left there is overwritten by the next.
    case .outcomeUnknown?: transaction.connection.isShared
    default: false
    }
  }

  /// Commits, and tells a failure that may have come after the commit from one that did not.
  private func commitTransaction(of transaction: StoreTransaction) throws {
    KillPoint.beforeCommit.reach()
    do {
      try transaction.connection.commit()
    } catch let error as StoreError where Self.isDoubtful(error.code, in: transaction) {
      throw StoreError(
        .outcomeUnknown, "it is not known whether a commit is there: \(error.reason)",
        statement: error.statement)
    }
    KillPoint.afterCommit.reach()
  }

  /// Whether a failure of a commit tells nothing of its outcome: on a server a lost connection, in a file
  /// an error of the disk.
  private static func isDoubtful(_ code: StoreError.Code, in transaction: StoreTransaction) -> Bool
  {
    transaction.connection.isShared
      ? code == .unreachable : code == .diskFailed || code == .statementFailed
  }

  /// Commits what `body` writes, or nothing of it when it throws.
  private func transaction(
    in transaction: StoreTransaction, locking locks: WriteLocks, _ body: () throws -> Void
  ) throws {
    transaction.hasBegun = false
    transaction.outbox.removeAll(keepingCapacity: true)
    transaction.wordLeft = []
    transaction.storedBytes = StoredBytes()
    transaction.gathered.removeAll()
    transaction.usedTypes.removeAll(keepingCapacity: true)
    transaction.tailChange = NotificationTail.Change()
    transaction.filingRequest = 0
    do {
      try begin(in: transaction, locking: locks)
      try body()
      try transaction.writeGathered()
      try DatabaseTable(transaction: transaction).writeStoredBytes()
      try NotificationIndexTable(transaction: transaction).fileWaiting()
      try DispatchLeaseTable(transaction: transaction).pointToChanges()
      try commitTransaction(of: transaction)
    } catch {
      if transaction.connection.isInTransaction { try? transaction.connection.rollback() }
      transaction.outbox.removeAll(keepingCapacity: true)
      transaction.gathered.removeAll()
      transaction.usedTypes.removeAll(keepingCapacity: true)
      transaction.forgetUncommitted()
      throw error
    }
    board.put(transaction.usedTypes)
    transaction.tail?.apply(transaction.tailChange)
  }

  private func begin(in transaction: StoreTransaction, locking locks: WriteLocks) throws {
    guard !transaction.isDistributed || locks.databases.count <= 1 else {
      throw StoreError(
        .statementFailed,
        "a write concerns \(locks.databases.count) databases, which may be on several nodes")
    }
    let schemaVersion = try locks.beginWriting(on: transaction.connection)
    transaction.held = transaction.connection.isShared ? locks : nil
    if transaction.isInDoubt {
      // The connection is another, and no transaction of the lost one goes on: it is decided now.
      transaction.isInDoubt = false
      lock.withLock { doubtHandler }?()
    }
    try CounterTable(transaction: transaction).followSchema(foundAs: schemaVersion)
    transaction.hasBegun = true
  }

  /// Writes what others have left before a job that may look at it, outside of its savepoint.
  private func prepare(_ transaction: StoreTransaction, for job: any StoreJob) throws {
    if !job.gathersWrites || transaction.gathered.isFull { try transaction.writeGathered() }
  }

  /// Runs one job and returns why it failed, with nothing of it kept. Throws when the engine gave
  /// up the whole transaction, and with it the jobs before.
  private func attempt(_ job: any StoreJob, in transaction: StoreTransaction) throws -> (any Error)?
  {
    let connection = transaction.connection
    let outboxCount = transaction.outbox.count
    let storedBytes = transaction.storedBytes
    let gathered = transaction.gathered.mark
    let usedTypeCount = transaction.usedTypes.count
    let logged = transaction.tailChange.added.count
    try connection.run("SAVEPOINT job", [])
    do {
      try job.run(in: transaction)
      try connection.run("RELEASE job", [])
      return nil
    } catch {
      guard connection.isInTransaction, !Self.concernsAll(error, in: transaction) else {
        throw error
      }
      try connection.run("ROLLBACK TO job", [])
      try connection.run("RELEASE job", [])
      transaction.outbox.removeSubrange(outboxCount...)
      transaction.storedBytes = storedBytes
      transaction.gathered.restore(gathered)
      transaction.usedTypes.removeSubrange(usedTypeCount...)
      transaction.tailChange.added.removeSubrange(logged...)
      transaction.forgetUncommitted()
      return error
    }
  }
}
