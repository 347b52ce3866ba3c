import Logging
import Storage
import StoreModel

/// The background work that builds and removes indexes after changes of schemas.
///
/// The store contains the work and its progress. The builder continues where an earlier process
/// stopped. A builder without work searches the store for new work of other processes every
/// ``idleTime``.
struct IndexBuilder: Sendable {
  /// The time between two searches for work when there was none.
  static let idleTime = Duration.seconds(1)
  /// The time between two steps, so that clients' saves can run.
  static let pause = Duration.milliseconds(2)

  /// The store's maintenance operations, which do one step at a time.
  let maintenance: MaintenanceService
  let log: ServerLog

  /// Works until the task is cancelled. After a failure, the method waits for a minute and tries
  /// again.
  func run() async {
    var report = IndexWorkReport()
    while !Task.isCancelled {
      do {
        guard let work = try await maintenance.continueIndexWork() else {
          try await Task.sleep(for: Self.idleTime)
          continue
        }
        if let line = report.line(after: work, at: ContinuousClock.now) { log.info(line) }
        try await Task.sleep(for: Self.pause)
      } catch {
        // After a cancellation the store may be closed, which is no fault.
        guard !Task.isCancelled else { return }
        log.error(
          "an index could not be built; the server tries again in a minute",
          ["cause": .string("\(error)")])
        // A cancellation ends the sleep, and then the loop.
        try? await Task.sleep(for: .seconds(60))
      }
    }
  }
}

/// The messages about the work on an index: the start of each phase, the progress every ten
/// seconds, and the end.
public struct IndexWorkReport: Sendable {
  /// Creates a report before the first step.
  public init() {}

  /// The work and time of the last message; nil before the first message and after the end of the
  /// work on an index.
  private var last: (work: IndexWork, time: ContinuousClock.Instant)?

  /// Returns the message after a step; nil if no message is necessary.
  ///
  /// - Parameters:
  ///   - work: the state of the work after the step.
  ///   - now: the present monotonic time.
  public mutating func line(after work: IndexWork, at now: ContinuousClock.Instant) -> String? {
    guard work.phase != nil else {
      last = nil
      return "\(work.name): done"
    }
    if let last, last.work.name == work.name, last.work.phase == work.phase,
      now - last.time < .seconds(10)
    {
      return nil
    }
    last = (work, now)
    return "\(work.name): \(work.progress)"
  }
}
