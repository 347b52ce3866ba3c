import Foundation
import KillPoints

/// The work of the thread that copies the write-ahead log into the database, so that saves do not
/// wait for the copying. The object also delays the writer's transactions when necessary.
/// ``CheckpointSchedule`` makes the decisions.
///
/// The writer calls ``writing(_:)`` for each transaction. The thread runs ``work(over:)`` until
/// ``close()``.
package final class Checkpointer: @unchecked Sendable {
  // All state is guarded by the condition.
  private let condition = NSCondition()
  private var schedule: CheckpointSchedule
  private var isClosed = false
  /// The number of passes (calls that copy pages of the log) so far.
  private var passes = 0
  /// The number of failed passes.
  private var failedPasses = 0
  /// Whether the thread has ended, so that the writer no longer waits for it.
  private var isOver = false

  /// Creates the object. The caller starts the thread.
  package init(_ schedule: CheckpointSchedule) {
    self.schedule = schedule
  }

  /// The number of passes, and how many of them failed.
  package var passCounts: (all: Int, failed: Int) {
    condition.lock()
    defer { condition.unlock() }
    return (passes, failedPasses)
  }

  /// Runs one transaction of the writer as soon as the transaction may begin. The call blocks the
  /// writer's thread while a pass runs alone, or while the log is at its limit.
  ///
  /// - Parameter body: runs the transaction, and returns the number of pages in the log afterwards.
  package func writing(_ body: () -> Int) {
    condition.lock()
    while schedule.holdsWriter && !isOver { condition.wait() }
    schedule.begin()
    condition.unlock()
    let pages = body()
    condition.lock()
    schedule.commit(loggedPages: pages)
    if schedule.isDue { condition.broadcast() }
    condition.unlock()
  }

  /// Copies the log when a pass is due, until the store is closed. It is the body of the thread.
  ///
  /// - Parameter connection: the thread's own connection to the file.
  package func work(over connection: any SQLConnection) {
    while let pass = nextPass() {
      // A failed pass is repeated when the log has grown; the log holds all commits.
      KillPoint.beforeCheckpoint.reach()
      let copied = try? connection.copyLog(isAlone: pass == .alone)
      KillPoint.afterCheckpoint.reach()
      condition.lock()
      schedule.end(copiedPages: copied)
      passes += 1
      if copied == nil { failedPasses += 1 }
      condition.broadcast()
      condition.unlock()
    }
  }

  /// Makes the thread end after the pass under way. The call does not wait for the thread.
  package func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until a pass is due, and until the writer's transaction has ended if the pass runs
  /// alone. Returns the pass; nil after ``close()``.
  private func nextPass() -> CheckpointSchedule.Pass? {
    condition.lock()
    defer { condition.unlock() }
    while !isClosed {
      if let pass = schedule.next() {
        while pass == .alone && schedule.isWriting { condition.wait() }
        return pass
      }
      condition.wait()
    }
    isOver = true
    condition.broadcast()
    return nil
  }
}
