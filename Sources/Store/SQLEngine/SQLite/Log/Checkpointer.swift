import Foundation
import KillPoints

/// The thread that copies the write-ahead log into the database, so that saves do not wait for it,
/// and the gate before each transaction of the writer. ``CheckpointSchedule`` decides.
package final class Checkpointer: @unchecked Sendable {
  // All state is guarded by the condition.
  private let condition = NSCondition()
  private var schedule: CheckpointSchedule
  private var isClosed = false
  private var passes = 0
  private var failedPasses = 0
  /// The thread has ended, so the writer no longer waits for it.
  private var isOver = false

  package init(_ schedule: CheckpointSchedule) {
    self.schedule = schedule
  }

  /// The number of passes, and how many of them failed.
  package var passCounts: (all: Int, failed: Int) {
    condition.lock()
    defer { condition.unlock() }
    return (passes, failedPasses)
  }

  /// Runs one transaction of the writer as soon as it may begin.
  ///
  /// - Parameter body: returns the log's number of pages afterwards.
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

  /// Copies the log when a pass is due, until the store is closed.
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

  /// Ends the thread after the pass under way.
  package func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }

  /// Waits for the next pass, and for the writer if the pass runs alone; nil after the end.
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
