/// When what is beyond its retention is looked for again, as a value.
///
/// An hour later at the latest; sooner when much was logged meanwhile, for a server that notifies
/// thousands a second would have millions of entries too many by then. As looking goes through what is
/// kept, it may take a fiftieth of the time and no more.
struct RetentionSchedule {
  /// How often to ask whether it is due.
  static let step = Duration.seconds(60)
  private static let longest = Duration.seconds(3600)
  private static let share = 50
  /// Entries of the notification log that are worth the look.
  private static let entries = 10_000

  private var ended: ContinuousClock.Instant
  private var took = Duration.zero
  private var logged: Int

  /// - Parameters:
  ///   - began: when the last look began, and `ended` when it came to its end.
  ///   - logged: entries that the process had logged when it began.
  init(began: ContinuousClock.Instant, ended: ContinuousClock.Instant, logged: Int) {
    self.ended = ended
    took = ended - began
    self.logged = logged
  }

  /// - Parameter logged: entries that the process has logged by now.
  func isDue(at now: ContinuousClock.Instant, logged: Int) -> Bool {
    let elapsed = now - ended
    if elapsed >= Self.longest { return true }
    return logged - self.logged >= Self.entries && elapsed >= took * Self.share
  }
}
