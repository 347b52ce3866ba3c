import Foundation
import StoreModel

/// A queue of jobs for the store's threads, oldest first. A full queue refuses a job at once, so
/// that waiting callers do not fill the memory. ``WriteSchedule`` decides which jobs a thread
/// takes.
///
/// Any thread may call the methods, because a condition guards all state. Each call locks the
/// condition for a short time only; while ``take(most:by:patience:)`` waits, it is not locked.
final class JobQueue: @unchecked Sendable {
  // All state is guarded by the condition.
  private let condition = NSCondition()
  private let limit: Int
  private let role: String
  private var schedule: WriteSchedule
  private var idleThreads = 0
  private var waitingSince: ContinuousClock.Instant?
  private var hasWatch = false
  private var isClosed = false

  /// The time for which a few jobs wait for a thread at work, which then does them together.
  private static let patienceWithOthers = Duration.milliseconds(5)

  /// - Parameters:
  /// - writers: the number of threads whose jobs take locks; 1 if the jobs take no locks.
  /// - separatesDatabases: whether jobs of different databases are never taken together.
  init(limit: Int, role: String, writers: Int = 1, separatesDatabases: Bool = false) {
    self.limit = limit
    self.role = role
    schedule = WriteSchedule(threads: writers, separatesDatabases: separatesDatabases)
  }

  var count: Int {
    condition.lock()
    defer { condition.unlock() }
    return schedule.count
  }

  var isOver: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isClosed
  }

  /// A full or closed queue finishes the job at once on the calling thread, with an error.
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
      // If other jobs' locks exclude this job, no thread is woken. The thread that does those jobs
      // takes further jobs afterwards.
      let canBegin = schedule.add(job)
      if waitingSince == nil { waitingSince = .now }
      if canBegin, !(hasWatch && schedule.hasFew(besides: nil)) { condition.signal() }
    }
    condition.unlock()
    if let failure { job.finish(failure) }
  }

  /// Also releases the locks of the thread's previous jobs, which are done.
  ///
  /// - Returns: empty if `patience`, in seconds, ends first; nil if the queue is closed and has no
  ///   jobs.
  func take(most: Int, by thread: Int = 0, patience: Double? = nil) -> [any StoreJob]? {
    let deadline = patience.map { Date(timeIntervalSinceNow: $0) }
    condition.lock()
    defer { condition.unlock() }
    schedule.finish(by: thread)
    while true {
      if !isClosed, !hasWatch, let waitingSince, schedule.hasFew(besides: thread) {
        let left = waitingSince + Self.patienceWithOthers - .now
        if left > .zero {
          hasWatch = true
          idleThreads += 1
          _ = condition.wait(until: Date(timeIntervalSinceNow: left / .seconds(1)))
          idleThreads -= 1
          hasWatch = false
          continue
        }
      }
      let taken = schedule.take(most: most, by: thread)
      if !taken.isEmpty {
        waitingSince = schedule.isEmpty ? nil : .now
        // Another waiting thread may be able to begin some of the remaining jobs.
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

  /// The threads still do the waiting jobs.
  func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }
}
