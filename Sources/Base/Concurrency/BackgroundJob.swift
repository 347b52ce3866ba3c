import Foundation
import Synchronization

/// A job that a process does by itself, without a request: its name, and how its runs went.
///
/// ```swift
/// let job = BackgroundJob("retention", of: "Storage", "every hour")
/// try await job.run { try await store.maintenance.trim(at: .now) }
/// print(job.status.runs)  // 1
/// ```
package final class BackgroundJob: Sendable {
  /// How the runs of a job went since the start of the process.
  package struct Status: Sendable, Hashable {
    package var runs = 0
    package var failures = 0
    package var isRunning = false
    /// The time at which the last run ended, also one that failed.
    package var lastRun: Date?
    package var lastFailure: Date?
    package var failure: String?
  }

  /// The name, one to three words, such as `index building`.
  package let name: String
  /// The module to which the job belongs.
  package let owner: String
  /// When the job runs, such as `every hour, and after 10,000 log entries`.
  package let trigger: String
  private let state = Mutex(Status())

  package init(_ name: String, of owner: String, _ trigger: String) {
    self.name = name
    self.owner = owner
    self.trigger = trigger
  }

  package var status: Status { state.withLock { $0 } }

  /// Runs the job once, and records how the run went. A cancellation is no failure.
  package func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    state.withLock { $0.isRunning = true }
    do {
      let value = try await body()
      succeed()
      return value
    } catch {
      if Task.isCancelled || error is CancellationError {
        state.withLock { $0.isRunning = false }
      } else {
        fail(error)
      }
      throw error
    }
  }

  package func succeed() { end(nil) }

  package func fail(_ error: any Error) { end("\(error)") }

  private func end(_ failure: String?) {
    let now = Date()
    state.withLock { status in
      status.isRunning = false
      status.runs += 1
      status.lastRun = now
      guard let failure else { return }
      status.failures += 1
      status.lastFailure = now
      status.failure = failure
    }
  }
}
