import CloudKitModel

/// Finds out whether the server's clock was set since the start, by one that nobody sets.
///
/// What is older than its retention is deleted by the clock. One that jumps forward by a month would take
/// all of it at once, and setting it right again brings nothing back.
struct ClockWatch: Sendable {
  /// Seconds by which the clock may have been set forward while things are deleted by their age.
  static let tolerance = 3_600.0

  private let start: Timestamp
  private let steadyStart: ContinuousClock.Instant

  init(at now: Timestamp, steady: ContinuousClock.Instant) {
    start = now
    steadyStart = steady
  }

  /// Seconds by which the clock was set forward since the start; negative where it was set back.
  func jump(at now: Timestamp, steady: ContinuousClock.Instant) -> Double {
    now.seconds - start.seconds - (steady - steadyStart) / .seconds(1)
  }

  func mayTrim(at now: Timestamp, steady: ContinuousClock.Instant) -> Bool {
    jump(at: now, steady: steady) <= Self.tolerance
  }
}
