import CloudKitModel

/// A detector of changes of the server's clock. It compares the clock with a monotonic one since
/// the start of the server.
///
/// The retention deletes old data by the clock. If the clock jumps forward by a month, the
/// retention would delete all data at once, and setting the clock right would not restore it.
struct ClockWatch: Sendable {
  /// The maximum jump in seconds up to which the retention may delete.
  static let tolerance = 3_600.0

  /// The time at the start.
  private let start: Timestamp
  /// The monotonic time at the start.
  private let steadyStart: ContinuousClock.Instant

  /// Begins to compare the clocks.
  init(at now: Timestamp, steady: ContinuousClock.Instant) {
    start = now
    steadyStart = steady
  }

  /// Returns the seconds by which the clock was set forward since the start; negative if it was set
  /// back.
  func jump(at now: Timestamp, steady: ContinuousClock.Instant) -> Double {
    now.seconds - start.seconds - (steady - steadyStart) / .seconds(1)
  }

  /// Whether the retention may delete data: the clock was not set forward by more than
  /// ``tolerance``.
  func mayTrim(at now: Timestamp, steady: ContinuousClock.Instant) -> Bool {
    jump(at: now, steady: steady) <= Self.tolerance
  }
}
