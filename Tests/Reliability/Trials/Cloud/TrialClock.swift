import Foundation

/// The clock of a reliability test, shared by all observers.
enum TrialClock {
  /// Nanoseconds since some moment.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  static func seconds(since moment: Int64) -> Double { Double(now - moment) / 1e9 }

  /// Waits until a condition holds, by looking again and again.
  ///
  /// - Parameters:
  ///   - seconds: how long to wait at most.
  ///   - interval: the seconds between two looks.
  /// - Returns: whether the condition came to hold within the time.
  static func wait(
    seconds: Double, every interval: Double = 0.001, until isThere: () throws -> Bool
  ) rethrows -> Bool {
    let start = now
    while try !isThere() {
      if self.seconds(since: start) > seconds { return false }
      pause(seconds: interval)
    }
    return true
  }

  /// Keeps the rate of a load, or chooses the moment of a strike. Nothing that must come is waited for here;
  /// that is what ``wait(seconds:every:until:)`` is for.
  static func pause(seconds: Double) { usleep(UInt32(max(0, seconds) * 1e6)) }
}
