import CloudKitModel

/// A detector of jumps of the server's clock. It compares the time since the start of the server by
/// this clock with the time by a monotonic clock.
///
/// The retention decides by the clock which data are old. If the clock jumped forward by a month,
/// the retention would delete all such data at once. A correction of the clock would not restore
/// them.
struct ClockWatch: Sendable {
  /// The maximum jump in seconds up to which the retention may delete.
  static let tolerance = 3_600.0

  private let start: Timestamp
  private let steadyStart: ContinuousClock.Instant

  init(at now: Timestamp, steady: ContinuousClock.Instant) {
    start = now
    steadyStart = steady
  }

  /// Returns the seconds by which the clock was set forward since the start; negative if it was set
  /// back.
  func jump(at now: Timestamp, steady: ContinuousClock.Instant) -> Double {
    now.seconds - start.seconds - (steady - steadyStart) / .seconds(1)
  }

  /// Whether the retention may delete data: since the start, the clock was not set forward by more
  /// than ``tolerance``.
  func mayTrim(at now: Timestamp, steady: ContinuousClock.Instant) -> Bool {
    jump(at: now, steady: steady) <= Self.tolerance
  }
}
