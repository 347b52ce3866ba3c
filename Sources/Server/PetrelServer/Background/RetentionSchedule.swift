/// The time of the next pass of the retention, which deletes data that are older or more than the
/// limits permit. The schedule is a value without a clock of its own.
///
/// A pass is due one hour after the last one. It is due earlier after 10,000 new log entries,
/// because a server with thousands of notifications a second would otherwise exceed the limits by
/// millions of entries. Each pass scans the kept data. So the earlier pass waits until 50 times the
/// duration of the last pass is over.
struct RetentionSchedule {
  /// The time between two calls of ``isDue(at:logged:)``.
  static let step = Duration.seconds(60)
  /// The time from the end of a pass after which the next one is due in any case.
  private static let longest = Duration.seconds(3600)
  /// The minimum time before an earlier pass, as a multiple of the duration of the last pass.
  private static let share = 50
  /// The number of new log entries after which a pass is due earlier.
  private static let entries = 10_000

  private var ended: ContinuousClock.Instant
  private var took = Duration.zero
  /// The number of logged entries at the start of the last pass.
  private var logged: Int

  /// Creates the schedule after a finished pass. `logged` is the count at the start of the pass.
  init(began: ContinuousClock.Instant, ended: ContinuousClock.Instant, logged: Int) {
    self.ended = ended
    took = ended - began
    self.logged = logged
  }

  func isDue(at now: ContinuousClock.Instant, logged: Int) -> Bool {
    let elapsed = now - ended
    if elapsed >= Self.longest { return true }
    return logged - self.logged >= Self.entries && elapsed >= took * Self.share
  }
}
