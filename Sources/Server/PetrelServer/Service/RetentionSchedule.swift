/// The time of the next pass of the retention, as a value without a clock.
///
/// A pass runs at least once an hour. It runs earlier after 10,000 new log entries: a server with
/// thousands of notifications a second would otherwise exceed the limits by millions of entries.
/// Each pass scans the kept data, so passes take at most about 1/50 of the time.
struct RetentionSchedule {
  /// The time between two calls of ``isDue(at:logged:)``.
  static let step = Duration.seconds(60)
  /// The maximum time between two passes.
  private static let longest = Duration.seconds(3600)
  /// The minimum ratio of the time between passes to the time of a pass.
  private static let share = 50
  /// The number of new log entries after which a pass runs earlier.
  private static let entries = 10_000

  /// The end of the last pass.
  private var ended: ContinuousClock.Instant
  /// The duration of the last pass.
  private var took = Duration.zero
  /// The number of logged entries at the start of the last pass.
  private var logged: Int

  /// Notes a finished pass.
  ///
  /// - Parameters:
  ///   - began: the start of the pass.
  ///   - ended: the end of the pass.
  ///   - logged: the number of log entries that the process had written when the pass began.
  init(began: ContinuousClock.Instant, ended: ContinuousClock.Instant, logged: Int) {
    self.ended = ended
    took = ended - began
    self.logged = logged
  }

  /// Whether the next pass is due.
  ///
  /// - Parameter logged: the number of log entries that the process has written.
  func isDue(at now: ContinuousClock.Instant, logged: Int) -> Bool {
    let elapsed = now - ended
    if elapsed >= Self.longest { return true }
    return logged - self.logged >= Self.entries && elapsed >= took * Self.share
  }
}
