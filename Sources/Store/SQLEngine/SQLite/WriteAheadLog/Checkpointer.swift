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
  private var passes = 0
  private var failedPasses = 0
  /// The writer no longer waits for a thread that has ended.
  private var isOver = false

  package init(_ schedule: CheckpointSchedule) {
    self.schedule = schedule
  }

  package var passCounts: (all: Int, failed: Int) {
    condition.lock()
    defer { condition.unlock() }
    return (passes, failedPasses)
  }

  /// Blocks the writer's thread while a pass runs alone, or while the log is at its limit. `body`
  /// returns the number of pages in the log after the transaction.
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

  /// Does not wait for the thread.
  package func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }

  /// Waits for a due pass, and for the end of the writer's transaction before a pass alone. nil
  /// after ``close()``.
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
