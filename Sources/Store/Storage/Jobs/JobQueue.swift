import Foundation
import StoreModel

/// Jobs that wait for threads, oldest first, up to a limit.
final class JobQueue: @unchecked Sendable {
  // All state is guarded by the condition.
  private let condition = NSCondition()
  private let limit: Int
  private let role: String
  private var schedule: WriteSchedule
  private var idleThreads = 0
  private var isClosed = false

  /// - Parameters:
  ///   - role: What the jobs are, for the error at the limit.
  ///   - writers: Threads that do jobs side by side, as far as their locks allow. Threads whose jobs
  ///     lock nothing count as one.
  ///   - separatesDatabases: Whether no two databases' jobs are taken together.
  init(limit: Int, role: String, writers: Int = 1, separatesDatabases: Bool = false) {
    self.limit = limit
    self.role = role
    schedule = WriteSchedule(threads: writers, separatesDatabases: separatesDatabases)
  }

  /// Jobs that wait.
  var count: Int {
    condition.lock()
    defer { condition.unlock() }
    return schedule.count
  }

  /// Whether it was closed.
  var isOver: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isClosed
  }

  /// Adds a job, or finishes it at once when the queue is full or closed.
  func add(_ job: any StoreJob) {
    condition.lock()
    let failure: StoreError?
    if isClosed {
      failure = StoreError(.closed, "the store was closed")
    } else if schedule.count >= limit {
      failure = StoreError(
        .overloaded, "\(schedule.count) \(role) are waiting for the store; try again later")
    } else {
      failure = nil
      // Who has in hand what it must wait for looks again when that is done.
      if schedule.add(job) { condition.signal() }
    }
    condition.unlock()
    if let failure { job.finish(failure) }
  }

  /// Waits for jobs and takes up to `most` of them; nil when the queue is closed and empty.
  ///
  /// - Parameters:
  ///   - thread: Which of the writers asks; what it took before is done.
  ///   - patience: How long to wait, in seconds; without jobs by then the answer is empty.
  func take(most: Int, by thread: Int = 0, patience: Double? = nil) -> [any StoreJob]? {
    let deadline = patience.map { Date(timeIntervalSinceNow: $0) }
    condition.lock()
    defer { condition.unlock() }
    schedule.finish(by: thread)
    while true {
      let taken = schedule.take(most: most, by: thread)
      if !taken.isEmpty {
        // There may be something for another one too.
        if idleThreads > 0, !schedule.isEmpty { condition.signal() }
        return taken
      }
      if isClosed, schedule.isEmpty {
        condition.broadcast()
        return nil
      }
      idleThreads += 1
      defer { idleThreads -= 1 }
      guard let deadline else {
        condition.wait()
        continue
      }
      if !condition.wait(until: deadline) { return [] }
    }
  }

  /// Lets no more jobs in; those that wait are still done.
  func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }
}
