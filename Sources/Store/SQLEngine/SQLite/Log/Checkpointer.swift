import Foundation
import KillPoints

/// The thread that copies the write-ahead log into the database, so that nobody who saves waits for
/// it, and the gate through which the writer goes to each transaction. ``CheckpointSchedule`` decides.
package final class Checkpointer: @unchecked Sendable {
  // All state is guarded by the condition.
  private let condition = NSCondition()
  private var schedule: CheckpointSchedule
  private var isClosed = false
  private var passes = 0
  private var failedPasses = 0
  /// The thread has ended, and nobody needs to wait for it.
  private var isOver = false

  package init(_ schedule: CheckpointSchedule) {
    self.schedule = schedule
  }

  /// How many passes there were, and how many of them failed.
  package var passCounts: (all: Int, failed: Int) {
    condition.lock()
    defer { condition.unlock() }
    return (passes, failedPasses)
  }

  /// Does one transaction of the writer, as soon as that may begin.
  ///
  /// - Parameter body: answers how many pages the log has afterwards.
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

  /// Copies whenever it is time, until the store is closed.
  package func work(over connection: any SQLConnection) {
    while let pass = nextPass() {
      // What fails is tried again when the log has grown; it holds all that was committed.
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

  /// Lets the pass that is under way be the last.
  package func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }

  /// Waits for the next pass, and for the writer where it must stand still; nil when there is none
  /// any more.
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
