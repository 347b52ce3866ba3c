import Logging
import Storage
import StoreModel
import Synchronization

/// Builds and removes indexes after changes of schemas, one step at a time.
///
/// The store contains the work and its progress. The builder continues where an earlier process
/// stopped. A builder without work searches the store for new work of other processes every
/// ``idleTime``.
final class IndexBuilder: Sendable {
  /// The time between two searches for work when there was none.
  static let idleTime = Duration.seconds(1)
  /// The time between two steps, so that clients' saves can run.
  private static let pause = Duration.milliseconds(2)

  private let maintenance: MaintenanceService
  private let log: ServerLog
  private let report = Mutex(IndexWorkReport())

  init(maintenance: MaintenanceService, log: ServerLog) {
    self.maintenance = maintenance
    self.log = log
  }

  /// Does one step, and returns the pause before the next one; nil if there is no work.
  func step() async throws -> Duration? {
    guard let work = try await maintenance.continueIndexWork() else { return nil }
    if let line = report.withLock({ $0.line(after: work, at: .now) }) { log.info(line) }
    return Self.pause
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
