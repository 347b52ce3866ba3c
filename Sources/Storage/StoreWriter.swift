import Foundation

/// The thread that writes. It takes all writes that are waiting, runs each under a savepoint of
/// its own in one transaction, and commits once for all of them.
final class StoreWriter: @unchecked Sendable {
  typealias CommitHandler = @Sendable ([OutboxEntry]) -> Void

  let queue: JobQueue
  private let groupLimit: Int
  private let lock = NSLock()
  // Guarded by the lock.
  private var handler: CommitHandler?

  init(configuration: StoreConfiguration) {
    queue = JobQueue(limit: configuration.waitingWrites, role: "writes")
    groupLimit = max(1, configuration.writesPerCommit)
  }

  func setCommitHandler(_ handler: CommitHandler?) {
    lock.withLock { self.handler = handler }
  }

  /// Works until the queue is closed and empty.
  func work(in session: StoreSession) {
    while let group = queue.take(most: groupLimit) {
      perform(group, in: session)
    }
  }

  private func perform(_ group: [any StoreJob], in session: StoreSession) {
    session.outbox.removeAll(keepingCapacity: true)
    session.storedBytes = StoredBytes()
    var failures = [(any Error)?](repeating: nil, count: group.count)
    do {
      try session.connection.beginWriting()
      try session.followSchema()
      for (index, job) in group.enumerated() {
        failures[index] = try attempt(job, in: session, isAlone: group.count == 1)
      }
      if session.connection.isInTransaction {
        try session.writeStoredBytes()
        try session.connection.commit()
      }
    } catch {
      if session.connection.isInTransaction { try? session.connection.rollback() }
      session.forgetUncommitted()
      for job in group { job.finish(error) }
      return
    }
    if !session.outbox.isEmpty, let handler = lock.withLock({ handler }) {
      handler(session.outbox)
    }
    for (job, failure) in zip(group, failures) { job.finish(failure) }
  }

  /// Runs one job and returns why it failed, with nothing of it kept. Throws when the engine gave
  /// up the whole transaction, and with it the jobs before.
  private func attempt(
    _ job: any StoreJob, in session: StoreSession, isAlone: Bool
  ) throws -> (any Error)? {
    let connection = session.connection
    let outboxCount = session.outbox.count
    let storedBytes = session.storedBytes
    if !isAlone { try connection.run("SAVEPOINT job", []) }
    do {
      try job.run(in: session)
      if !isAlone { try connection.run("RELEASE job", []) }
      return nil
    } catch {
      guard connection.isInTransaction else { throw error }
      if isAlone {
        try connection.rollback()
      } else {
        try connection.run("ROLLBACK TO job", [])
        try connection.run("RELEASE job", [])
      }
      session.outbox.removeSubrange(outboxCount...)
      session.storedBytes = storedBytes
      session.forgetUncommitted()
      return error
    }
  }
}
