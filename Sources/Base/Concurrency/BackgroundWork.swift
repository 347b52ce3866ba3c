import Synchronization

/// All jobs that a process does by itself. They are started in the order of the list, and stopped in the
/// opposite order.
///
/// ```swift
/// let work = BackgroundWork([
///   .part(dispatcher.job, start: dispatcher.start, stop: dispatcher.stop),
///   .repeated(
///     BackgroundJob("retention", of: "Storage", "every hour"), every: .seconds(3600),
///     afterFailure: .seconds(60), report: { log.warning("\($0)") }
///   ) {
///     try await store.maintenance.trim(at: .now)
///     return nil
///   },
/// ])
/// work.start()
/// // …
/// await work.stop()
/// ```
package final class BackgroundWork: Sendable {
  /// A job with what starts and stops it.
  package struct Entry: Sendable {
    let job: BackgroundJob
    let start: @Sendable ((any TaskExecutor)?) -> Void
    let stop: @Sendable () async -> Void
  }

  private let entries: [Entry]
  private let isStarted = Atomic(false)

  package init(_ entries: [Entry]) {
    self.entries = entries
  }

  package var jobs: [BackgroundJob] { entries.map(\.job) }

  /// Starts all jobs. A second call changes nothing.
  ///
  /// - Parameter executor: the executor of the tasks of repeated jobs; nil for Swift's default one.
  package func start(on executor: (any TaskExecutor)? = nil) {
    guard !isStarted.exchange(true, ordering: .relaxed) else { return }
    for entry in entries { entry.start(executor) }
  }

  package func stop() async {
    for entry in entries.reversed() { await entry.stop() }
  }
}

extension BackgroundWork.Entry {
  /// A job that a part of the process does in tasks or threads of its own.
  package static func part(
    _ job: BackgroundJob, start: @escaping @Sendable () -> Void = {},
    stop: @escaping @Sendable () async -> Void = {}
  ) -> BackgroundWork.Entry {
    BackgroundWork.Entry(job: job, start: { _ in start() }, stop: stop)
  }

  /// A job in a task that repeats it until it is stopped. The stop cancels the task, and does not wait
  /// for the end of a run.
  ///
  /// - Parameters:
  ///   - interval: the pause before the job may run again.
  ///   - isDue: whether the job runs now; otherwise it is asked again after the interval.
  ///   - patience: the pause after a run that failed.
  ///   - report: receives the error of a run that failed.
  ///   - step: runs the job once, and returns the pause until the next run; `nil` for the interval.
  package static func repeated(
    _ job: BackgroundJob, every interval: Duration,
    isDue: @escaping @Sendable () -> Bool = { true }, afterFailure patience: Duration,
    report: @escaping @Sendable (any Error) -> Void,
    step: @escaping @Sendable () async throws -> Duration?
  ) -> BackgroundWork.Entry {
    let running = RunningTask()
    return BackgroundWork.Entry(
      job: job,
      start: { executor in
        running.set(
          Task(executorPreference: executor) {
            while !Task.isCancelled {
              var pause = interval
              do {
                if isDue() { pause = try await job.run(step) ?? interval }
              } catch {
                // After a cancellation the job's parts may be closed, which is no fault.
                guard !Task.isCancelled else { return }
                report(error)
                pause = patience
              }
              // A cancellation ends the sleep, and then the loop.
              try? await Task.sleep(for: pause)
            }
          })
      }, stop: { running.cancel() })
  }
}

/// The task of a repeated job; none before the start.
private final class RunningTask: Sendable {
  private let task = Mutex<Task<Void, Never>?>(nil)

  func set(_ next: Task<Void, Never>) { task.withLock { $0 = next } }
  func cancel() { task.withLock { $0 }?.cancel() }
}
