import Foundation

/// Jobs that wait for a thread, oldest first, up to a limit.
final class JobQueue: @unchecked Sendable {
  // All state is guarded by the condition.
  private let condition = NSCondition()
  private let limit: Int
  private let role: String
  private var waiting: [any StoreJob] = []
  private var isClosed = false

  /// - Parameter role: What the jobs are, for the error at the limit.
  init(limit: Int, role: String) {
    self.limit = limit
    self.role = role
  }

  /// Jobs that wait.
  var count: Int {
    condition.lock()
    defer { condition.unlock() }
    return waiting.count
  }

  /// Adds a job, or finishes it at once when the queue is full or closed.
  func add(_ job: any StoreJob) {
    condition.lock()
    let failure: StoreError?
    if isClosed {
      failure = StoreError(.closed, "the store was closed")
    } else if waiting.count >= limit {
      failure = StoreError(
        .overloaded, "\(waiting.count) \(role) are waiting for the store; try again later")
    } else {
      failure = nil
      waiting.append(job)
      condition.signal()
    }
    condition.unlock()
    if let failure { job.finish(failure) }
  }

  /// Waits for jobs and takes up to `most` of them; nil when the queue is closed and empty.
  func take(most: Int) -> [any StoreJob]? {
    condition.lock()
    defer { condition.unlock() }
    while waiting.isEmpty {
      if isClosed { return nil }
      condition.wait()
    }
    let taken = Array(waiting.prefix(most))
    waiting.removeFirst(taken.count)
    return taken
  }

  /// Lets no more jobs in; those that wait are still done.
  func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }
}
