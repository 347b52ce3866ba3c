import Logging
import StoreModel

/// Builds and removes the indexes that changes of schemas asked for, while the server runs.
///
/// The work is in the store: it goes on where an earlier process left it, and work that another
/// process asks for is found within ``idleTime``.
struct IndexBuilder: Sendable {
  /// Between looks for work when there was none.
  static let idleTime = Duration.seconds(1)
  /// Between steps, so that those who save have their turn.
  static let pause = Duration.milliseconds(2)

  let maintenance: any Maintenance
  let log: ServerLog

  /// Works until the task is cancelled.
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
        // Who stops the service may close the store at once.
        guard !Task.isCancelled else { return }
        log.error(
          "an index could not be built; it is tried again in a minute",
          ["cause": .string("\(error)")])
        // A cancellation ends the sleep, and the loop with it.
        try? await Task.sleep(for: .seconds(60))
      }
    }
  }
}

/// What is told of work on indexes: its beginning, how far it is every ten seconds, and its end.
public struct IndexWorkReport: Sendable {
  public init() {}

  private var last: (work: IndexWork, time: ContinuousClock.Instant)?

  /// The line to write after a step; nil when there is nothing new to say.
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
