import Foundation

/// The clock of a trial, which all who see something share.
enum TrialClock {
  /// Nanoseconds since some moment.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  static func seconds(since moment: Int64) -> Double { Double(now - moment) / 1e9 }

  /// Asks again and again until something is there.
  ///
  /// - Returns: whether it came within the time.
  static func wait(seconds: Double, until isThere: () throws -> Bool) rethrows -> Bool {
    let start = now
    while try !isThere() {
      if self.seconds(since: start) > seconds { return false }
      usleep(1_000)
    }
    return true
  }
}
