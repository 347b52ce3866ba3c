import Foundation
import StoreModel

/// A queue of jobs for the store's threads, oldest first, up to a limit.
///
/// Tasks add jobs, and threads take them. A full queue refuses a job at once with
/// ``StoreError/Code/overloaded``, so that waiting callers do not fill the memory.
/// ``WriteSchedule`` decides which jobs a thread takes.
///
/// Any thread may call the methods: the condition guards all state. A call holds it for a short
/// time only, except while ``take(most:by:patience:)`` waits.
final class JobQueue: @unchecked Sendable {
  // All state is guarded by the condition.
  private let condition = NSCondition()
  private let limit: Int
  /// The name of the jobs in the plural, for the error at the limit.
  private let role: String
  private var schedule: WriteSchedule
  /// The number of threads that wait for jobs.
  private var idleThreads = 0
  private var isClosed = false

  /// - Parameters:
  ///   - role: the name of the jobs, for the error at the limit.
  ///   - writers: the number of threads that do jobs concurrently, as far as the jobs' locks
  ///     permit; 1 for threads whose jobs take no locks.
  ///   - separatesDatabases: whether jobs of different databases are never taken together.
  ///   - limit: the most waiting jobs; further ones are refused.
  init(limit: Int, role: String, writers: Int = 1, separatesDatabases: Bool = false) {
    self.limit = limit
    self.role = role
    schedule = WriteSchedule(threads: writers, separatesDatabases: separatesDatabases)
  }

  /// The number of waiting jobs.
  var count: Int {
    condition.lock()
    defer { condition.unlock() }
    return schedule.count
  }

  /// Whether the queue was closed.
  var isOver: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isClosed
  }

  /// Adds a job and wakes a thread that can begin it.
  ///
  /// A full or closed queue finishes the job at once, on the calling thread, with
  /// ``StoreError/Code/overloaded`` or ``StoreError/Code/closed``.
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
      // If the job must wait for locks, the thread that holds them takes jobs again when it is
      // done.
      if schedule.add(job) { condition.signal() }
    }
    condition.unlock()
    if let failure { job.finish(failure) }
  }

  /// Waits for jobs and takes up to `most` of them; nil if the queue is closed and empty.
  ///
  /// - Parameters:
  ///   - thread: the number of the calling writer, whose previous jobs are done.
  ///   - patience: seconds to wait; the result is empty if no job comes in that time.
  ///   - most: the most jobs taken, for one transaction.
  func take(most: Int, by thread: Int = 0, patience: Double? = nil) -> [any StoreJob]? {
    let deadline = patience.map { Date(timeIntervalSinceNow: $0) }
    condition.lock()
    defer { condition.unlock() }
    schedule.finish(by: thread)
    while true {
      let taken = schedule.take(most: most, by: thread)
      if !taken.isEmpty {
        // Another idle thread may be able to take some of the rest.
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

  /// Refuses further jobs with ``StoreError/Code/closed``. The waiting ones are still done, and
  /// then ``take(most:by:patience:)`` returns nil to each thread.
  func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }
}
