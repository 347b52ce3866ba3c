/// The delay after consecutive failures: from 50 ms, doubled each time, to 5 s.
struct RetryDelay {
  /// The number of consecutive failures, at most 8.
  private var failures = 0

  /// Records a success: the next delay is the shortest one again.
  mutating func succeed() {
    failures = 0
  }

  /// Counts a failure and returns the seconds to wait.
  mutating func fail() -> Double {
    failures = min(failures + 1, 8)
    return min(5, 0.05 * Double(1 << (failures - 1)))
  }
}
